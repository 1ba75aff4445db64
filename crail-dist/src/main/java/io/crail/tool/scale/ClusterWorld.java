/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.protocol.Answers;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.AnnounceSpace;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.DatanodeState;
import io.crail.tool.drain.DrainTask;
import io.crail.tool.drain.DrainWork;
import io.crail.tool.report.ClusterQuery;
import io.crail.tool.report.DatanodeReport;
import io.crail.tool.scale.ScaleMember.Part;
import io.crail.tool.scale.ScaleMember.Standing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A cluster, and the programs of its operator. Used by one thread. */
final class ClusterWorld implements ScaleWorld {
  /**
   * The programs of the operator.
   *
   * @param start starts datanodes
   * @param stop ends one
   * @param choose says which one is to leave; empty for the emptiest
   * @param deadline how long each may take
   */
  record Hooks(String start, String stop, String choose, Duration deadline) {}

  private final Configuration configuration;
  private final NameNodeClient namenodes;
  private final int storageClass;
  private final long bandwidth;
  private final Hooks hooks;
  private final Consumer<String> output;
  private final long startNanos = System.nanoTime();
  private final long silenceMillis;
  private final Map<Integer, Long> incarnations = new HashMap<>();
  private long settledMillis;
  private long token;

  /** The namenodes that have answered the last look. */
  private List<Integer> answering = List.of();

  /**
   * Creates it.
   *
   * @param bandwidth of drains, in bytes a second; 0 for all there is
   * @param output takes what the programs print
   */
  ClusterWorld(
      Configuration configuration,
      CoreStore store,
      int storageClass,
      long bandwidth,
      Hooks hooks,
      Consumer<String> output)
      throws CrailException {
    this.configuration = configuration;
    this.namenodes = store.connections().namenodes();
    this.silenceMillis =
        configuration.get(ClusterKeys.KEEP_ALIVE).toMillis() * ClusterKeys.MISSED_KEEP_ALIVES;
    this.storageClass = storageClass;
    this.bandwidth = bandwidth;
    this.hooks = hooks;
    this.output = output;
  }

  /** Sets the token of the lease, which the hooks are given. */
  void token(long newToken) {
    token = newToken;
  }

  @Override
  public long millis() {
    return (System.nanoTime() - startNanos) / 1_000_000;
  }

  @Override
  public void sleep(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }

  /** A datanode, over the namenodes that answer. */
  private static final class Found {
    private final List<Part> parts = new ArrayList<>();
    private DatanodeReport report;

    private void add(int answered, int index, ReportDatanodes.Datanode datanode) {
      while (parts.size() < answered) {
        parts.add(Part.NONE);
      }
      boolean drains = datanode.draining() || datanode.state() == DatanodeState.DRAINING;
      boolean isSilent = datanode.state() == DatanodeState.OFFLINE;
      parts.add(new Part(datanode.lentBytes(), datanode.usedBytes(), drains, isSilent));
      DatanodeReport part = DatanodeReport.of(index, datanode);
      report = report == null ? part : report.plus(part);
    }

    private ScaleMember member() {
      return new ScaleMember(
          report.uuid(),
          report.address(),
          standing(),
          parts,
          Math.max(0, report.readRate()) + Math.max(0, report.writeRate()));
    }

    private Standing standing() {
      if (parts.stream().allMatch(Part::isSilent)) {
        return Standing.SILENT;
      } else if (report.draining()) {
        return Standing.DRAINS;
      }
      return switch (report.state()) {
        case ONLINE -> Standing.SERVES;
        case DRAINING -> Standing.DRAINS;
        case IMPAIRED -> Standing.IMPAIRED;
        case OFFLINE, LOST -> Standing.SILENT;
      };
    }
  }

  @Override
  public View look() throws CrailException, InterruptedException {
    Answers<Ping.Response> alive =
        Answers.of(namenodes, NameNodeOperations.PING, new Ping.Request(0));
    Map<UUID, Found> found = new LinkedHashMap<>();
    List<Integer> answered = new ArrayList<>();
    for (int index = 0; index < namenodes.count(); index++) {
      if (alive.at(index) == null) {
        continue;
      }
      for (ReportDatanodes.Datanode each : ClusterQuery.datanodes(namenodes, index)) {
        if (each.storageClass() == storageClass && each.state() != DatanodeState.LOST) {
          UUID uuid = new UUID(each.uuidHigh(), each.uuidLow());
          found.computeIfAbsent(uuid, key -> new Found()).add(answered.size(), index, each);
        }
      }
      // Afterwards, in case it has restarted before it was asked.
      settle(index);
      answered.add(index);
    }
    answering = answered;
    return new View(
        found.values().stream().map(Found::member).toList(),
        alive.missing().isEmpty() && millis() >= settledMillis);
  }

  /** A namenode that has started has yet to hear of its datanodes. */
  private void settle(int index) throws CrailException, InterruptedException {
    long incarnation = namenodes.hello(index).incarnation();
    if (!Long.valueOf(incarnation).equals(incarnations.put(index, incarnation))) {
      Usage.Response usage =
          namenodes.callAt(index, NameNodeOperations.USAGE, new Usage.Request()).join();
      long age = Math.max(0, System.currentTimeMillis() - usage.startedMillis());
      settledMillis = Math.max(settledMillis, millis() + silenceMillis - age);
    }
  }

  @Override
  public void announce(long millis) throws CrailException, InterruptedException {
    AnnounceSpace.Request request =
        new AnnounceSpace.Request(storageClass, (int) Math.min(AnnounceSpace.MAX_MILLIS, millis));
    // Another one would take the deadline of a call again, and the lease with it.
    List<OperationCall<AnnounceSpace.Request, AnnounceSpace.Response>> calls = new ArrayList<>();
    for (int index : answering) {
      calls.add(namenodes.callAt(index, NameNodeOperations.ANNOUNCE_SPACE, request));
    }
    for (int i = 0; i < calls.size(); i++) {
      try {
        calls.get(i).join();
      } catch (CrailException e) {
        Answers.missing(namenodes, answering.get(i), e);
      }
    }
  }

  @Override
  public Hook start(List<String> names, int starting) {
    Map<String, String> variables = variables("start");
    variables.put("CRAIL_SCALE_NAMES", String.join(" ", names));
    variables.put("CRAIL_SCALE_COUNT", String.valueOf(names.size()));
    variables.put("CRAIL_SCALE_STARTING", String.valueOf(starting));
    return run(hooks.start(), variables);
  }

  @Override
  public Hook stop(UUID uuid, String address) {
    Map<String, String> variables = variables("stop");
    int colon = address.lastIndexOf(':');
    variables.put("CRAIL_SCALE_ADDRESS", address);
    variables.put("CRAIL_SCALE_HOST", address.substring(0, colon).replaceAll("[\\[\\]]", ""));
    variables.put("CRAIL_SCALE_PORT", address.substring(colon + 1));
    variables.put("CRAIL_SCALE_UUID", uuid.toString());
    return run(hooks.stop(), variables);
  }

  @Override
  public Hook choose(List<String> candidates) {
    if (hooks.choose().isEmpty()) {
      return new First(candidates.get(0));
    }
    Map<String, String> variables = variables("choose");
    variables.put("CRAIL_SCALE_ADDRESSES", String.join(" ", candidates));
    return run(hooks.choose(), variables);
  }

  /** What is chosen without a program. */
  private record First(String lastLine) implements Hook {
    @Override
    public boolean isEnded() {
      return true;
    }

    @Override
    public Optional<String> failure() {
      return Optional.empty();
    }

    @Override
    public void abort() {
      // It has ended.
    }
  }

  private Map<String, String> variables(String what) {
    Map<String, String> variables = new HashMap<>();
    variables.put("CRAIL_SCALE_HOOK", what);
    variables.put("CRAIL_SCALE_CLASS", String.valueOf(storageClass));
    variables.put("CRAIL_SCALE_TOKEN", String.valueOf(token));
    variables.put("CRAIL_SCALE_DEADLINE", String.valueOf(hooks.deadline().toSeconds()));
    return variables;
  }

  private HookProcess run(String line, Map<String, String> variables) {
    String what = variables.get("CRAIL_SCALE_HOOK");
    try {
      return HookProcess.start(
          line,
          variables,
          hooks.deadline(),
          what.equals("start"),
          text -> output.accept(what + "-hook: " + text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public DrainWork drain(UUID uuid, String address) {
    return DrainTask.begin(configuration, uuid, address, bandwidth);
  }

  @Override
  public boolean undo(UUID uuid, String address) throws CrailException, InterruptedException {
    return DrainTask.undo(configuration, uuid, address);
  }
}
