/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.top;

import io.crail.common.error.CrailException;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.Answers;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.ReportActivity;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.DatanodeState;
import io.crail.tool.report.ClusterQuery;
import io.crail.tool.report.DatanodeReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Asks all namenodes again and again what clients do, and compares the answers. All are asked at
 * the same time, so those that are down cost one deadline together. Used by one thread.
 */
public final class TopQuery {
  /** Bounds the pages of one namenode, should it never come to an end. */
  private static final int MOST_PAGES = 1_000;

  private final NameNodeClient namenodes;
  private final long ownId;
  private final TopReport.Manner manner;
  private final Map<Integer, Sample> before = new HashMap<>();
  private double seconds;

  /** What a namenode has said since which start of it, and when by its clock. */
  private record Sample(long incarnation, long nanos, Map<Long, Seen> clients) {}

  /** What a namenode has said of a client, and when by its clock. */
  private record Seen(long nanos, ReportActivity.Client client) {}

  /**
   * Creates a query.
   *
   * @param ownId the client that asks, which is left out
   */
  public TopQuery(NameNodeClient namenodes, long ownId, TopReport.Manner manner) {
    this.namenodes = namenodes;
    this.ownId = ownId;
    this.manner = manner;
  }

  /**
   * What clients have done since the last call; at the first one, in the time of {@code first}.
   *
   * @throws CrailException when no namenode answers, or one refuses
   */
  public TopReport next(Duration first) throws CrailException, InterruptedException {
    if (before.isEmpty()) {
      ask();
      Thread.sleep(first.toMillis());
    }
    return ask();
  }

  private TopReport ask() throws CrailException, InterruptedException {
    Answers<ReportActivity.Response> answers =
        Answers.of(
            namenodes,
            NameNodeOperations.REPORT_ACTIVITY,
            new ReportActivity.Request(ReportActivity.FIRST, ReportActivity.MAX_NODES));
    List<MissingNamenode> missing = new ArrayList<>(answers.missing());
    Map<Long, ClientRate> clients = new LinkedHashMap<>();
    Map<UUID, DatanodeReport> datanodes = new LinkedHashMap<>();
    List<TopReport.PathRate> paths = new ArrayList<>();
    seconds = 0;
    for (int index = 0; index < namenodes.count(); index++) {
      ReportActivity.Response answer = answers.at(index);
      if (answer == null) {
        before.remove(index);
        continue;
      }
      try {
        long incarnation = namenodes.hello(index).incarnation();
        Sample now = new Sample(incarnation, answer.nanos(), clients(index, answer));
        List<ReportDatanodes.Datanode> known = ClusterQuery.datanodes(namenodes, index);
        compare(before.put(index, now), now, clients);
        for (ReportDatanodes.Datanode each : known) {
          if (each.state() == DatanodeState.LOST) {
            continue;
          }
          DatanodeReport report = DatanodeReport.of(index, each);
          datanodes.merge(report.uuid(), report, DatanodeReport::plus);
        }
        answer
            .nodes()
            .forEach(
                each ->
                    paths.add(
                        new TopReport.PathRate(
                            each.path().toString(), each.milliPerSecond() / 1e3)));
      } catch (CrailException e) {
        before.remove(index);
        missing.add(Answers.missing(namenodes, index, e));
      }
    }
    return TopReport.of(
        seconds,
        List.copyOf(clients.values()),
        List.copyOf(datanodes.values()),
        paths,
        missing.stream().map(MissingNamenode::toString).toList(),
        manner);
  }

  /** All clients of a namenode. */
  private Map<Long, Seen> clients(int index, ReportActivity.Response first)
      throws CrailException, InterruptedException {
    Map<Long, Seen> clients = new LinkedHashMap<>();
    ReportActivity.Response page = first;
    for (int i = 0; i < MOST_PAGES && !page.clients().isEmpty(); i++) {
      long after = 0;
      for (ReportActivity.Client each : page.clients()) {
        after = each.id();
        if (each.id() != ownId) {
          clients.put(each.id(), new Seen(page.nanos(), each));
        }
      }
      page =
          namenodes
              .callAt(
                  index, NameNodeOperations.REPORT_ACTIVITY, new ReportActivity.Request(after, 0))
              .join();
    }
    return clients;
  }

  /** Adds the part of a namenode. It has none if it was not there before. */
  private void compare(Sample last, Sample now, Map<Long, ClientRate> clients) {
    // After a restart, maybe on another host, it counts anew, by another clock.
    if (last == null || last.incarnation != now.incarnation || now.nanos <= last.nanos) {
      return;
    }
    seconds = Math.max(seconds, (now.nanos - last.nanos) / 1e9);
    now.clients.forEach(
        (id, seen) -> {
          Seen old = last.clients.getOrDefault(id, new Seen(last.nanos, null));
          double passed = (seen.nanos - old.nanos) / 1e9;
          clients.merge(id, ClientRate.between(old.client, seen.client, passed), ClientRate::plus);
        });
  }
}
