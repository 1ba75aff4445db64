/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Lookups by one or many clients, each with its own connection, compared with Redis: by rate, and
 * by processor time of the server. Also the cost of a lookup for all namenodes together when there
 * are two.
 */
final class ClientsSection extends Section {
  private static final int[] CLIENTS = {1, 16, 64};
  private static final int[] DEPTHS = {1, DEPTH};

  private static final int ROOT_NAMES = 200_000;
  private static final long LOOKUPS = 2_000_000;
  private static final long SMALL_BYTES = 64 << 20;
  private static final String PER_CPU = "/CPU s";
  private static final String[] NAMENODES = {"one namenode", "two namenodes"};

  /** Requests a second to each namenode when all get the same number, and for how long. */
  private static final int RATE = 100_000;

  private static final int RATE_SECONDS = 3;

  /**
   * Only the last experiment counts. The first ones warm up as many workers as are measured later.
   * In the first experiment the server spends twice as long on a lookup as in the last, since the
   * requests of clients with code that is not compiled yet come one by one.
   */
  private static final int EXPERIMENTS = 3;

  private static final String CONNECTIONS = "connections";
  private static final String REDIS = "Redis";
  private static final String REDIS_THREADS = "Redis, a thread for each client,";

  /** Names directly below the root, which are spread over the namenodes. */
  private static final String NAMES = "-t getMultiFileAsync -f / -n " + ROOT_NAMES;

  /** Warm-ups of a cluster. Each namenode compiles for itself. */
  private static final int WARM_UPS = 2;

  private LabCluster one;
  private LabCluster two;

  /** Creates the section. */
  ClientsSection(CompareSession with) {
    super(with);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    if (has(CompareSession.Peer.REDIS)) {
      with.redis().fill(1, LookupSection.REDIS_VALUE);
    }
    // Both are new and hold the same nodes, since the number of nodes in a namenode affects its
    // caches.
    one = with.newCluster(with.setup(), SMALL_BYTES);
    two = with.newCluster(with.setup().of(2), SMALL_BYTES);
    // Creates the names, and lets the servers compile the code for them.
    for (int i = 0; i < WARM_UPS; i++) {
      for (LabCluster each : List.of(one, two)) {
        with.programs().run(each.iobench(spread(each), true));
      }
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      for (int clients : CLIENTS) {
        inTurn(
            () -> crail(clients, depth),
            () -> redis(REDIS, clients, depth, 1),
            () -> redisThreads(clients, depth));
      }
    }
    for (boolean paced : new boolean[] {true, false}) {
      inTurn(() -> namenodes(one, paced), () -> namenodes(two, paced));
    }
  }

  private void crail(int clients, int depth) throws IOException, InterruptedException {
    long each = operations(clients, depth) / clients;
    // The clients are threads of one process with a connection each, as the clients of
    // redis-benchmark are sockets of one process.
    String load =
        (depth == 1 ? "-t getFile" : "-t getFileAsync -b " + depth)
            + " -f /ready.dat --threads "
            + clients
            + " -k "
            + each
            + " -w 0 -o true -e "
            + EXPERIMENTS
            + " --set crail.client.loops="
            + clients;
    // The datanode has a connection too.
    int others = Machine.connectionsTo(one.port());
    ServerTime server = new ServerTime(one.namenodes(), one.port());
    String text = with.programs().run(one.iobench(load, true), server);
    String shown = LabCluster.shown("iobench", load, true);
    String name = name("Crail", clients, depth);
    samples.add(name, "/s", shown, Samples.number(lastExperiment(text), "throughput"));
    samples.add(name, PER_CPU, shown, each * clients / server.seconds());
    samples.add(name, CONNECTIONS, shown, server.connections() - others);
  }

  /** As many threads as Crail's clients have, so that answers of Redis wake threads too. */
  private void redisThreads(int clients, int depth) throws IOException, InterruptedException {
    if (depth == 1 && clients > 1) {
      redis(REDIS_THREADS, clients, depth, clients);
    }
  }

  private void redis(String system, int clients, int depth, int threads)
      throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.REDIS)) {
      return;
    }
    long count = operations(clients, depth);
    Redis.Load load =
        new Redis.Load("get", 0, LookupSection.REDIS_VALUE, clients, depth, count, threads);
    long pid = with.redis().process().pid();
    double before = Machine.processorSeconds(pid);
    double rate = with.redis(load).perSecond();
    double seconds = Machine.processorSeconds(pid) - before;
    String name = name(system, clients, depth);
    samples.add(name, "/s", load.shown(), rate);
    samples.add(name, PER_CPU, load.shown(), count / seconds);
    samples.add(name, CONNECTIONS, load.shown(), clients);
  }

  /** About a second of operations, the same number for both; a multiple of the clients. */
  private static long operations(int clients, int depth) {
    if (depth == 1) {
      return clients == 1 ? 16_000 : 48_000;
    }
    return 8_000L * DEPTH;
  }

  /**
   * Asks all namenodes of a cluster. Without a pace, each of two namenodes gets half the work. With
   * a pace, each gets as much as a single namenode. The cost of a request depends on how often a
   * server sleeps between requests.
   */
  private void namenodes(LabCluster cluster, boolean paced)
      throws IOException, InterruptedException {
    int count = cluster.namenodes().size();
    long lookups = paced ? (long) RATE * count * RATE_SECONDS : LOOKUPS;
    String load = paced ? paced(count, lookups) : spread(cluster);
    ServerTime servers = new ServerTime(cluster.namenodes(), cluster.port());
    String text = with.programs().run(cluster.iobench(load, true), servers);
    String shown = LabCluster.shown("iobench", load, true);
    samples.add(namenodes(count, paced), PER_CPU, shown, lookups / servers.seconds());
    // Reports whether the pace was kept.
    samples.add(namenodes(count, paced), "/s", shown, Samples.number(text, "throughput"));
  }

  private static String namenodes(int count, boolean paced) {
    String load = paced ? String.format(Locale.ROOT, "%,d/s", RATE) : DEPTH + " in flight";
    return "lookups, " + load + " at each, " + NAMENODES[count - 1];
  }

  private static String paced(int namenodes, long lookups) {
    return NAMES
        + " -k "
        + lookups
        + " -w 200000 -b "
        + DEPTH * namenodes
        + " --rate "
        + RATE * namenodes;
  }

  /** The same number in flight at each namenode, for any number of namenodes. */
  private static String spread(LabCluster cluster) {
    return NAMES + " -k " + LOOKUPS + " -w 400000 -b " + DEPTH * cluster.namenodes().size();
  }

  private static String name(String system, int clients, int depth) {
    return (system.equals("Crail") ? "getFile, " : system + " GET, ")
        + clients
        + (clients == 1 ? " client, " : " clients, ")
        + (depth == 1 ? "one" : String.valueOf(depth))
        + " in flight each";
  }

  @Override
  protected void end() throws InterruptedException {
    for (LabCluster each : new LabCluster[] {one, two}) {
      if (each != null) {
        each.stop();
      }
    }
  }

  @Override
  protected void compare() {
    goals.add(namenodes(2, true), namenodes(1, true), PER_CPU, 0.9);
    goals.add(namenodes(2, false), namenodes(1, false), PER_CPU, 0);
    for (int depth : DEPTHS) {
      if (has(CompareSession.Peer.REDIS)) {
        for (int clients : CLIENTS) {
          String crail = name("Crail", clients, depth);
          // Clients share the processors with the server, so the rate depends on both.
          goals.add(crail, name(REDIS, clients, depth), "/s", 0);
          goals.add(crail, name(REDIS, clients, depth), PER_CPU, 1);
          if (depth == 1 && clients > 1) {
            goals.add(crail, name(REDIS_THREADS, clients, depth), "/s", 0);
            goals.add(crail, name(REDIS_THREADS, clients, depth), PER_CPU, 0);
          }
        }
      }
      String title =
          depth == 1 ? "Lookups of one name, one in flight" : "Lookups of one name, 128 in flight";
      String file = depth == 1 ? "clients-1" : "clients-128";
      plot(new Plot(file, title, "lookups [1/s]", "/s", Plot.Axis.LABELS, series(depth)));
      plot(
          new Plot(
              file + "-per-cpu",
              title + ", by processor time of the server",
              "lookups per processor second",
              PER_CPU,
              Plot.Axis.LABELS,
              series(depth)));
    }
  }

  private List<Plot.Series> series(int depth) {
    List<Plot.Series> series = new ArrayList<>();
    for (String system :
        has(CompareSession.Peer.REDIS) ? List.of("Crail", "Redis") : List.of("Crail")) {
      Map<String, String> points = new LinkedHashMap<>();
      for (int clients : CLIENTS) {
        points.put(clients == 1 ? "1 client" : clients + " clients", name(system, clients, depth));
      }
      series.add(new Plot.Series(system, points));
    }
    return series;
  }
}
