/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.ClassUsage;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Asks all namenodes for what reports show. They are first asked for a sign of life at the same
 * time, so those that are down cost one deadline together. Used by one thread.
 */
public final class ClusterQuery {
  /** How long a peer is waited for while none of them serves. */
  private static final long LOOK_NANOS = 2_000_000_000L;

  private final NameNodeClient namenodes;
  private final List<CrailException> failures = new ArrayList<>();
  private final Map<UUID, DatanodeReport> datanodes = new LinkedHashMap<>();
  private final Map<Integer, ClassUsage> classes = new TreeMap<>();

  private ClusterQuery(NameNodeClient namenodes) {
    this.namenodes = namenodes;
  }

  /** Reports on a cluster, even if no namenode answers. */
  public static ClusterReport ofAny(NameNodeClient namenodes) throws InterruptedException {
    return new ClusterQuery(namenodes).report();
  }

  /**
   * Reports on a cluster.
   *
   * @throws CrailException when no namenode answers: why the first one does not
   */
  public static ClusterReport of(NameNodeClient namenodes)
      throws CrailException, InterruptedException {
    ClusterQuery query = new ClusterQuery(namenodes);
    ClusterReport report = query.report();
    if (query.failures.size() == report.namenodes().size()) {
      throw query.failures.get(0);
    }
    return report;
  }

  /** Which namenodes answer, and how fast, once they are connected. */
  public static List<NamenodeAnswer> answers(NameNodeClient namenodes) throws InterruptedException {
    return new ClusterQuery(namenodes).answers();
  }

  private List<NamenodeAnswer> answers() throws InterruptedException {
    List<OperationCall<Ping.Request, Ping.Response>> calls = new ArrayList<>();
    for (int i = 0; i < namenodes.count(); i++) {
      calls.add(namenodes.callAt(i, NameNodeOperations.PING, new Ping.Request(i)));
    }
    List<NamenodeAnswer> answers = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      String address = Addresses.text(namenodes.peer(i).address());
      try {
        calls.get(i).join();
        long begin = System.nanoTime();
        namenodes.callAt(i, NameNodeOperations.PING, new Ping.Request(i)).join();
        long micros = (System.nanoTime() - begin) / 1000;
        answers.add(new NamenodeAnswer(i, address, true, micros, ""));
      } catch (CrailException e) {
        failures.add(e);
        answers.add(new NamenodeAnswer(i, address, false, 0, e.getMessage()));
      }
    }
    return answers;
  }

  private ClusterReport report() throws InterruptedException {
    Instant at = Instant.now();
    List<NamenodeReport> reports = new ArrayList<>();
    String cluster = "";
    for (NamenodeAnswer answer : answers()) {
      if (!answer.answers()) {
        reports.add(without(answer, answer.problem(), seen(answer.index())));
        continue;
      }
      try {
        reports.add(ask(answer));
        cluster = namenodes.hello(answer.index()).cluster().toString();
      } catch (CrailException e) {
        failures.add(e);
        reports.add(without(answer, e.getMessage(), seen(answer.index())));
      }
    }
    return new ClusterReport(
        cluster,
        at,
        reports,
        new ArrayList<>(datanodes.values()),
        new ArrayList<>(classes.values()),
        reports.stream().mapToLong(NamenodeReport::objects).sum(),
        reports.stream().mapToInt(NamenodeReport::leases).sum(),
        reports.stream().mapToLong(NamenodeReport::smallValueBytes).sum());
  }

  /** Which peers of a namenode answer while none of them serves. */
  private List<NamenodeReport.Peer> seen(int index) throws InterruptedException {
    List<InetSocketAddress> addresses = namenodes.addresses().peers(index);
    if (addresses.size() == 1) {
      return List.of();
    }
    List<NameNodeClient> clients = new ArrayList<>();
    List<OperationCall<Ping.Request, Ping.Response>> calls = new ArrayList<>();
    for (InetSocketAddress address : addresses) {
      NameNodeClient client = namenodes.only(address, LOOK_NANOS);
      clients.add(client);
      calls.add(client.callAt(0, NameNodeOperations.PING, new Ping.Request(index)));
    }
    List<NamenodeReport.Peer> peers = new ArrayList<>();
    for (int i = 0; i < addresses.size(); i++) {
      boolean isThere = isThere(calls.get(i));
      String address = Addresses.text(addresses.get(i));
      peers.add(
          new NamenodeReport.Peer(index, i, address, 0, false, isThere, false, Lead.UNKNOWN, 0, 0));
    }
    clients.forEach(NameNodeClient::close);
    return peers;
  }

  private static boolean isThere(OperationCall<Ping.Request, Ping.Response> call)
      throws InterruptedException {
    try {
      call.join();
      return true;
    } catch (CrailException e) {
      return !MissingNamenode.isDown(e.code());
    }
  }

  private static NamenodeReport without(
      NamenodeAnswer answer, String problem, List<NamenodeReport.Peer> peers) {
    return new NamenodeReport(
        answer.index(),
        answer.address(),
        false,
        0,
        problem,
        Optional.empty(),
        false,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        Optional.empty(),
        peers);
  }

  /** Asks one namenode for everything, and only then adds its answers to those of others. */
  private NamenodeReport ask(NamenodeAnswer answer) throws CrailException, InterruptedException {
    int index = answer.index();
    Usage.Response usage =
        namenodes.callAt(index, NameNodeOperations.USAGE, new Usage.Request()).join();
    List<InetSocketAddress> addresses = namenodes.addresses().peers(index);
    Lead.Response lead = new Lead.Response(0, 0, List.of());
    if (addresses.size() > 1) {
      lead = namenodes.callAt(index, NameNodeOperations.LEAD, new Lead.Request(Lead.NONE)).join();
    }
    for (ReportDatanodes.Datanode each : datanodes(namenodes, index)) {
      DatanodeReport report = DatanodeReport.of(index, each);
      datanodes.merge(report.uuid(), report, DatanodeReport::plus);
    }
    usage.classes().forEach(each -> classes.merge(each.storageClass(), each, ClassUsage::plus));
    return new NamenodeReport(
        index,
        answer.address(),
        true,
        answer.micros(),
        "",
        Optional.of(Instant.ofEpochMilli(usage.startedMillis())),
        usage.successor(),
        usage.requests(),
        usage.requestNanos(),
        usage.waitedNanos(),
        usage.locatedBytes(),
        usage.committedBytes(),
        usage.nodes() - 1,
        usage.leases(),
        usage.smallValueBytes(),
        usage.smallValueLimitBytes(),
        usage.memoryBytes(),
        usage.memoryLimitBytes(),
        usage.datanodes(),
        usage.onlineDatanodes(),
        usage.logs().stream().map(NamenodeReport.Log::of).findFirst(),
        addresses.size() == 1 ? List.of() : NamenodeReport.Peer.of(index, addresses, lead));
  }

  /** How namenode {@code index} sees its datanodes, ascending by id. */
  public static List<ReportDatanodes.Datanode> datanodes(NameNodeClient namenodes, int index)
      throws CrailException, InterruptedException {
    List<ReportDatanodes.Datanode> all = new ArrayList<>();
    int after = -1;
    while (true) {
      List<ReportDatanodes.Datanode> page =
          namenodes
              .callAt(
                  index, NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(after))
              .join()
              .datanodes();
      if (page.isEmpty()) {
        return all;
      }
      all.addAll(page);
      after = page.get(page.size() - 1).id();
    }
  }

  /** Takes one extent after the other. */
  public interface ExtentVisitor {
    /** Takes an extent; false when no more are wanted. */
    boolean visit(ListExtents.Placed placed) throws CrailException, InterruptedException;
  }

  /**
   * Visits the extents of namenode {@code index} at a datanode.
   *
   * @param datanode its id at that namenode, or {@link ListExtents#ANY_DATANODE}
   */
  public static void extents(
      NameNodeClient namenodes, int index, int datanode, ExtentVisitor visitor)
      throws CrailException, InterruptedException {
    ListExtents.Request request = new ListExtents.Request(datanode, 0, 0, 0);
    while (request.cursor() != -1) {
      ListExtents.Response page =
          namenodes.callAt(index, NameNodeOperations.LIST_EXTENTS, request).join();
      for (ListExtents.Placed placed : page.extents()) {
        if (!visitor.visit(placed)) {
          return;
        }
      }
      requireProgress(
          request.cursor(), request.id(), request.extent(), page.next(), page.id(), page.extent());
      request = new ListExtents.Request(datanode, page.next(), page.id(), page.extent());
    }
  }

  /**
   * Refuses a page that leads back, since who follows it would never end. Cursors grow; within a
   * node, which may take several pages, the number of its extents grows.
   *
   * @throws CrailException with {@link ErrorCode#PROTOCOL}
   */
  public static void requireProgress(
      long cursor, long id, int extent, long next, long nextId, int nextExtent)
      throws CrailException {
    boolean within = next == cursor && nextId != 0 && (nextId != id || nextExtent > extent);
    if (next != -1 && next <= cursor && !within) {
      throw ErrorCode.PROTOCOL.exception(
          "the namenode's page after " + cursor + " leads back to " + next);
    }
  }
}
