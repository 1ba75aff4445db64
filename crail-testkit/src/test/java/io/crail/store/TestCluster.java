/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.testkit.tier.Tier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An embedded cluster with little space, its stores, and a look at its space from outside. */
final class TestCluster implements AutoCloseable {
  private static final Pattern NODES = Pattern.compile(", nodes (\\d+),");
  private static final Pattern LEASES = Pattern.compile(", write leases (\\d+),");

  /** Longer where the machine is emulated. */
  private static final long PATIENCE_NANOS =
      TimeUnit.SECONDS.toNanos(Integer.getInteger("crail.test.patience", 60));

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final EmbeddedCrail crail;

  /** Starts a cluster of one namenode and one datanode. */
  static TestCluster start(String... settings) throws Exception {
    return start(1, 1, settings);
  }

  /**
   * Starts a cluster over TCP. No deadline and no lease ends because the machine stands still for
   * seconds, unless a test asks for that.
   *
   * @param settings {@code key=value} each, for servers and clients
   */
  static TestCluster start(int namenodes, int datanodes, String... settings) throws Exception {
    return start(Tier.of(Tier.TCP), namenodes, datanodes, settings);
  }

  /** As {@link #start(int, int, String...)}, over something else. */
  static TestCluster start(Tier tier, int namenodes, int datanodes, String... settings)
      throws Exception {
    EmbeddedCrail.Builder builder =
        EmbeddedCrail.builder()
            .namenodes(namenodes)
            .host(tier.host())
            .tiers(typesOf(tier, datanodes))
            .storage(tier.datanodeBytes())
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.lease", "60s");
    for (String type : tier.types()) {
      String size = "crail.storage." + Tier.keysOf(type) + ".allocationsize";
      if (Configuration.hasKeysBelow(size)) {
        builder.set(size, "16m");
      }
    }
    tier.settings().forEach(builder::set);
    for (String setting : settings) {
      set(builder, setting);
    }
    TestCluster cluster = new TestCluster(builder.start());
    if (tier.isSlow()) {
      // A datanode whose start takes long may have to let its space rest first.
      await("space", () -> cluster.usage().waitingBytes() == 0);
    }
    return cluster;
  }

  /** The tier of each datanode: of so many, but of one for each type at least. */
  private static String[] typesOf(Tier tier, int datanodes) {
    String[] names = new String[Math.max(datanodes, tier.types().size())];
    Arrays.setAll(names, i -> tier.types().get(i % tier.types().size()));
    return names;
  }

  private static void set(EmbeddedCrail.Builder builder, String setting) {
    int equals = setting.indexOf('=');
    builder.set(setting.substring(0, equals), setting.substring(equals + 1));
  }

  /** Takes over a cluster, which is closed with this. */
  static TestCluster of(EmbeddedCrail crail) {
    return new TestCluster(crail);
  }

  private TestCluster(EmbeddedCrail crail) {
    this.crail = crail;
    open.push(crail);
  }

  EmbeddedCrail crail() {
    return crail;
  }

  /** What clients read. */
  Configuration configuration() {
    return crail.configuration();
  }

  /** A configuration of the cluster with other values for a client. */
  CrailConfiguration configuration(String... settings) {
    CrailConfiguration own = CrailConfiguration.of(configuration());
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      own.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    return own;
  }

  /** A store that is closed with the cluster at the latest. */
  CrailStore newStore(String... settings) throws Exception {
    CrailStore store = CrailStore.newInstance(configuration(settings));
    open.push(store::close);
    return store;
  }

  /** The space of all classes at all namenodes. */
  ClassUsage usage() throws Exception {
    try (Transport transport = TransportProvider.open(configuration())) {
      return usage(transport, configuration());
    }
  }

  /** The space of all classes, as a client from outside sees it. */
  static ClassUsage usage(Transport transport, Configuration configuration) throws Exception {
    long capacity = 0;
    long free = 0;
    long used = 0;
    long waiting = 0;
    long lost = 0;
    for (Usage.Response usage :
        askAll(transport, configuration, NameNodeOperations.USAGE, new Usage.Request())) {
      for (ClassUsage each : usage.classes()) {
        capacity += each.capacityBytes();
        free += each.freeBytes();
        used += each.usedBytes();
        waiting += each.waitingBytes();
        lost += each.lostBytes();
      }
    }
    return new ClassUsage(0, capacity, free, used, waiting, lost, 0);
  }

  /** The nodes of all namenodes, their roots and their shares of spread directories included. */
  long nodes() throws Exception {
    return sum(NODES);
  }

  /** The write leases at all namenodes. */
  long leases() throws Exception {
    return sum(LEASES);
  }

  private long sum(Pattern figure) throws Exception {
    long sum = 0;
    for (Dump.Response dump : askAll(NameNodeOperations.DUMP, new Dump.Request(0))) {
      Matcher found = figure.matcher(dump.text().toString());
      sum += found.find() ? Long.parseLong(found.group(1)) : 0;
    }
    return sum;
  }

  /** The answers of all namenodes to a client from outside. */
  <Q, R> List<R> askAll(Operation<Q, R> operation, Q request) throws Exception {
    try (Transport transport = TransportProvider.open(configuration())) {
      return askAll(transport, configuration(), operation, request);
    }
  }

  /** The answer of one namenode to a client from outside. */
  <Q, R> R ask(int namenode, Operation<Q, R> operation, Q request) throws Exception {
    try (Transport transport = TransportProvider.open(configuration())) {
      return with(
          transport, configuration(), client -> client.callAt(namenode, operation, request).join());
    }
  }

  /** How often all namenodes have served an operation. */
  long operations(Operation<?, ?> operation) throws Exception {
    String prefix = "operation " + operation.name() + " ";
    long count = 0;
    try (Transport transport = TransportProvider.open(configuration())) {
      Dump.Request request = new Dump.Request(0);
      for (Dump.Response dump :
          askAll(transport, configuration(), NameNodeOperations.DUMP, request)) {
        for (String line : dump.text().toString().lines().toList()) {
          if (line.startsWith(prefix)) {
            count += Long.parseLong(line.substring(prefix.length()));
          }
        }
      }
    }
    return count;
  }

  /** The datanode of a tier, as the first namenode reports it. */
  ReportDatanodes.Datanode datanode(String tier) throws Exception {
    try (Transport transport = TransportProvider.open(configuration())) {
      ReportDatanodes.Request request = new ReportDatanodes.Request(-1);
      return askAll(transport, configuration(), NameNodeOperations.REPORT_DATANODES, request)
          .get(0)
          .datanodes()
          .stream()
          .filter(each -> each.tier().toString().equals(tier))
          .findFirst()
          .orElseThrow();
    }
  }

  /** The answers of all namenodes to a client from outside. */
  private static <Q, R> List<R> askAll(
      Transport transport, Configuration configuration, Operation<Q, R> operation, Q request)
      throws Exception {
    return with(
        transport,
        configuration,
        client -> {
          List<R> answers = new ArrayList<>();
          for (int i = 0; i < client.count(); i++) {
            answers.add(client.callAt(i, operation, request).join());
          }
          return answers;
        });
  }

  private interface Asking<R> {
    R of(NameNodeClient client) throws Exception;
  }

  private static <R> R with(Transport transport, Configuration configuration, Asking<R> asking)
      throws Exception {
    try (ClientLoop loop = transport.newClientLoop("test-outside")) {
      NameNodeClient client =
          new NameNodeClient(
              loop,
              configuration.get(ClusterKeys.NAMENODE_ADDRESS),
              new NameNodeClient.Identity(Hello.ROLE_CLIENT, 1, "test", "crail"),
              RpcPeer.Options.defaults(),
              PATIENCE_NANOS);
      R answer = asking.of(client);
      client.close();
      return answer;
    }
  }

  /** Lets a datanode get no new data. */
  void drain(String host, int port) throws Exception {
    try (Transport transport = TransportProvider.open(configuration())) {
      askAll(
          transport,
          configuration(),
          NameNodeOperations.REMOVE_DATANODE,
          new RemoveDatanode.Request(true, port, Utf8.of(host)));
    }
  }

  /** Waits for a condition, with a deadline. */
  static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within its time: " + what);
      }
      Thread.sleep(5);
    }
  }

  /** As {@link #await}, for a thread that is interrupted. */
  static void poll(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.call()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("not within its time: " + what);
      }
      Thread.yield();
    }
  }

  @Override
  public void close() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }
}
