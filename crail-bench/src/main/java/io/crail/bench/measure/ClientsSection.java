/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Lookups by one to many clients, also by processor time of the server, beside Redis; and what a
 * lookup costs all namenodes together when there are two.
 */
final class ClientsSection extends Section {
  private static final int[] CLIENTS = {1, 4, 16, 64};
  private static final int[] DEPTHS = {1, DEPTH};

  /** More clients are threads of these: each process costs more than what it measures. */
  private static final int PROCESSES = 4;

  private static final int ROOT_NAMES = 200_000;
  private static final long LOOKUPS = 2_000_000;
  private static final String PER_CPU = "/CPU s";

  /** Names right below the root, which are spread over the namenodes. */
  private static final String SPREAD =
      "-t getMultiFileAsync -f / -n " + ROOT_NAMES + " -k " + LOOKUPS + " -w 0 -b ";

  /** How often a cluster is warmed up: each namenode compiles for itself. */
  private static final int WARM_UPS = 3;

  private Cluster two;

  /** Creates the section. */
  ClientsSection(Comparison with) {
    super(with);
  }

  @Override
  protected void prepare() throws IOException, InterruptedException {
    if (has(Comparison.Peer.REDIS)) {
      with.redis().fill(1, LookupSection.REDIS_VALUE);
    }
    two = with.newCluster(with.setup().of(2), 64 << 20);
    // Makes the names, and lets the servers compile what they do with them.
    for (int i = 0; i < WARM_UPS; i++) {
      for (Cluster each : List.of(with.cluster(), two)) {
        with.programs().run(each.iobench(spread(each), true));
      }
    }
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    for (int depth : DEPTHS) {
      for (int clients : CLIENTS) {
        crail(clients, depth);
        redis(clients, depth);
      }
    }
    namenodes(with.cluster(), "one namenode");
    namenodes(two, "two namenodes");
  }

  private void crail(int clients, int depth) throws IOException, InterruptedException {
    int processes = Math.min(clients, PROCESSES);
    long each = operations(depth) / clients;
    String load =
        (depth == 1 ? "-t getFile" : "-t getFileAsync -b " + depth)
            + " -f /ready.dat --clients "
            + processes
            + " --threads "
            + clients / processes
            + " -k "
            + each
            + " -w "
            + each;
    Process namenode = with.cluster().namenodes().get(0);
    double before = Machine.processorSeconds(namenode.pid());
    String text = with.iobench(load, true);
    double seconds = Machine.processorSeconds(namenode.pid()) - before;
    String shown = Cluster.shown("iobench", load, true);
    samples.add(name("Crail", clients, depth), "/s", shown, Samples.number(text, "throughput"));
    // The warm-up is work of the namenode too.
    samples.add(name("Crail", clients, depth), PER_CPU, shown, 2 * each * clients / seconds);
  }

  private void redis(int clients, int depth) throws IOException, InterruptedException {
    if (!has(Comparison.Peer.REDIS)) {
      return;
    }
    long count = operations(depth);
    Redis.Load load = new Redis.Load("get", 0, LookupSection.REDIS_VALUE, clients, depth, count);
    long pid = with.redis().process().pid();
    double before = Machine.processorSeconds(pid);
    double rate = with.redis(load).perSecond();
    double seconds = Machine.processorSeconds(pid) - before;
    samples.add(name("Redis", clients, depth), "/s", load.shown(), rate);
    samples.add(name("Redis", clients, depth), PER_CPU, load.shown(), count / seconds);
  }

  /** About a second or two of them. */
  private static long operations(int depth) {
    return depth == 1 ? 40_000 : 16_000L * DEPTH;
  }

  private void namenodes(Cluster cluster, String name) throws IOException, InterruptedException {
    double before = seconds(cluster);
    with.programs().run(cluster.iobench(spread(cluster), true));
    double seconds = seconds(cluster) - before;
    // Each name is looked up once before, to see whether it is there.
    samples.add(
        "lookups, 128 in flight at each, " + name,
        PER_CPU,
        Cluster.shown("iobench", spread(cluster), true),
        (LOOKUPS + ROOT_NAMES) / seconds);
  }

  /** As many in flight at each namenode, however many there are. */
  private static String spread(Cluster cluster) {
    return SPREAD + DEPTH * cluster.namenodes().size();
  }

  private static double seconds(Cluster cluster) throws IOException {
    double sum = 0;
    for (Process namenode : cluster.namenodes()) {
      sum += Machine.processorSeconds(namenode.pid());
    }
    return sum;
  }

  private static String name(String system, int clients, int depth) {
    return (system.equals("Crail") ? "getFile, " : "Redis GET, ")
        + clients
        + (clients == 1 ? " client, " : " clients, ")
        + (depth == 1 ? "one" : String.valueOf(depth))
        + " in flight each";
  }

  @Override
  protected void end() throws InterruptedException {
    if (two != null) {
      two.stop();
    }
  }

  @Override
  protected void compare() {
    goals.add(
        "lookups, 128 in flight at each, two namenodes",
        "lookups, 128 in flight at each, one namenode",
        PER_CPU,
        0.9);
    for (int depth : DEPTHS) {
      if (has(Comparison.Peer.REDIS)) {
        for (int clients : CLIENTS) {
          String crail = name("Crail", clients, depth);
          // Clients share the processors with the server: the rate is theirs as much as its own.
          goals.add(crail, name("Redis", clients, depth), "/s", 0);
          goals.add(crail, name("Redis", clients, depth), PER_CPU, 1);
        }
      }
      String title =
          depth == 1 ? "Lookups of one name, one in flight" : "Lookups of one name, 128 in flight";
      String file = depth == 1 ? "clients-1" : "clients-128";
      plot(new Plot(file, title, "lookups [1/s]", "/s", false, series(depth)));
      plot(
          new Plot(
              file + "-per-cpu",
              title + ", by processor time of the server",
              "lookups for each second of it [1/s]",
              PER_CPU,
              false,
              series(depth)));
    }
  }

  private List<Plot.Series> series(int depth) {
    List<Plot.Series> series = new ArrayList<>();
    for (String system :
        has(Comparison.Peer.REDIS) ? List.of("Crail", "Redis") : List.of("Crail")) {
      Map<String, String> points = new LinkedHashMap<>();
      for (int clients : CLIENTS) {
        points.put(clients == 1 ? "1 client" : clients + " clients", name(system, clients, depth));
      }
      series.add(new Plot.Series(system, points));
    }
    return series;
  }
}
