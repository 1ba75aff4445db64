/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.cluster.Lead;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.spark.application.Applications;
import io.crail.storage.LocalHost;
import io.crail.tool.metrics.MetricsKeys;
import io.crail.tool.report.ApplicationsReport;
import io.crail.tool.report.ClusterQuery;
import io.crail.tool.report.ClusterReport;
import io.crail.tool.report.StatusReport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Where the page gets its numbers: from the namenodes, as any client asks them, and the counters of
 * the namenode that serves the page, if it is no standby. Thread-safe.
 */
final class PageSource implements AutoCloseable {
  /** A namenode that is down costs no more of a request, which lasts 10 s at most. */
  private static final long LONGEST_CALL_NANOS = 3_000_000_000L;

  private final Served served;
  private final NamenodeAddresses addresses;
  private final TreeSet<String> hosts = new TreeSet<>();
  private final Configuration configuration;
  private final Transport transport;
  private final ClientLoop loop;
  private final NameNodeClient namenodes;

  /**
   * The process that serves the page.
   *
   * @param namenode the index of its namenode
   * @param peer which of the peers it is; {@link Lead#NONE} if it is the only one
   * @param server gives the namenode that serves in this process; null if another peer serves
   */
  record Served(int namenode, int peer, Supplier<NameNodeServer> server) {}

  PageSource(Served served, Configuration configuration, Transport transport) {
    this.served = served;
    this.transport = transport;
    NamenodeAddresses named = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    List<List<InetSocketAddress>> all = new ArrayList<>(named.namenodes());
    if (served.peer == Lead.NONE) {
      // The configured port may be 0, or another one than on the command line.
      String host = named.get(served.namenode).getHostString();
      int port = served.server.get().address().getPort();
      all.set(served.namenode, List.of(InetSocketAddress.createUnresolved(host, port)));
    }
    addresses = new NamenodeAddresses(all);
    this.configuration =
        configuration.toBuilder()
            .set(
                ClusterKeys.NAMENODE_ADDRESS.name(),
                addresses.toString(),
                "the addresses of this cluster")
            .set(
                ClusterKeys.RPC_TIMEOUT.name(),
                callNanos(configuration) / 1_000_000 + "ms",
                "what a request to the page may cost")
            .build();
    NameNodeClient.Identity identity = NameNodeClient.Identity.ofClient(configuration);
    hosts.add(identity.host());
    // The log gives the address of the page with this name.
    hosts.add(LocalHost.hostName());
    addresses.all().forEach(address -> hosts.add(address.getHostString()));
    MetricsKeys.candidates(configuration.get(MetricsKeys.ADDRESS))
        .forEach(address -> hosts.add(address.getHostString()));
    loop = transport.newClientLoop("page");
    namenodes =
        new NameNodeClient(
            loop, addresses, identity, transport.peerOptions(), callNanos(configuration));
  }

  private static long callNanos(Configuration configuration) {
    return Math.min(configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos(), LONGEST_CALL_NANOS);
  }

  /** What this namenode and the others are called. */
  TreeSet<String> hosts() {
    return hosts;
  }

  /** The namespace. */
  NamespaceReader namespace() {
    return new NamespaceReader(namenodes);
  }

  /** The state of the cluster, as far as the namenodes answer. */
  Map<String, Object> cluster() throws InterruptedException {
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("servedBy", served.namenode);
    if (served.peer != Lead.NONE) {
      state.put("servedByPeer", served.peer);
    }
    ClusterReport report = ClusterQuery.ofAny(namenodes);
    state.put("status", StatusReport.of(report));
    state.put("report", report);
    state.put("operations", operations());
    return state;
  }

  /**
   * What the applications of Spark hold. All of their files are listed for that, by a client that
   * lives for this answer only.
   */
  Map<String, Object> applications() throws IOException, InterruptedException {
    try (CrailStore store = CoreStore.open(configuration, transport, Clock.SYSTEM)) {
      ApplicationsReport all =
          ApplicationsReport.of(new Applications(store, addresses).list())
              .top(ApplicationsReport.MOST_IN_A_VIEW);
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put("at", Instant.now());
      answer.put("report", all);
      return answer;
    } catch (IOException | InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      // From the listing, or from the close, which may throw anything.
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e);
    }
  }

  /**
   * What this namenode has counted since its start, of the operations that were asked for; nothing
   * at a standby.
   */
  private List<Map<String, Object>> operations() {
    List<Map<String, Object>> all = new ArrayList<>();
    NameNodeServer server = served.server.get();
    if (server == null) {
      return all;
    }
    for (Operation<?, ?> operation : NameNodeOperations.all().values()) {
      OperationCounters counters = server.counters(operation);
      long count = counters.count();
      if (count > 0) {
        Map<String, Object> one = new LinkedHashMap<>();
        one.put("name", operation.name());
        one.put("count", count);
        one.put("nanos", counters.nanos());
        one.put("errors", errors(counters));
        one.put("buckets", buckets(counters));
        all.add(one);
      }
    }
    return all;
  }

  private static long errors(OperationCounters counters) {
    long sum = 0;
    for (ErrorCode code : ErrorCode.values()) {
      sum += counters.errors(code);
    }
    return sum;
  }

  /** Counts by time: up to 256 ns, up to twice that, and so on. */
  private static List<Long> buckets(OperationCounters counters) {
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < OperationCounters.BUCKETS; i++) {
      counts.add(counters.count(i));
    }
    return counts;
  }

  @Override
  public void close() {
    namenodes.close();
    loop.close();
  }
}
