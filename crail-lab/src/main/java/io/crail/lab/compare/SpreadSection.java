/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Creates and lookups in one spread directory of one to eight namenodes, by processor time of all
 * of them: what each namenode adds if it has a processor of its own. And what a single operation
 * takes in a spread directory, beside an ordinary one of the same depth.
 */
final class SpreadSection extends Section {
  private static final int[] NAMENODES = {1, 2, 4, 8};

  /** The namenodes of the cluster for single operations. */
  private static final int FEW = 2;

  private static final long SMALL_BYTES = 64 << 20;

  /**
   * For each namenode. A create takes some 17 microseconds of the namenodes' processors and as many
   * of the client's, a lookup half of that. So two processors give some 60,000 creates a second,
   * and eight namenodes ask for about half of what there is. Nearer to the limit they would get
   * their requests in larger batches than one namenode does, which are cheaper.
   */
  private static final int CREATE_RATE = 4_000;

  private static final int LOOKUP_RATE = 8_000;

  /** The kernel counts in hundredths of a second. That is 2 % of what a namenode works in these. */
  private static final int SECONDS = 6;

  /** All others are compared with one namenode, so its time has to be known better. */
  private static final int SECONDS_OF_ONE = 20;

  /** With less of the asked rate, the namenodes have got their requests in larger batches. */
  private static final double KEPT = 0.98;

  /** The first one is a warm-up, at the same pace. */
  private static final int PACED = 2;

  /** Operations of a namenode until its code is compiled. */
  private static final long WARM_UP = 60_000;

  private static final int NAMES = 200_000;
  private static final long SINGLE = 8_000;
  private static final int EXPERIMENTS = 3;
  private static final String PER_CPU = "/CPU s";

  /** What is created in this directory is spread, if there are several namenodes. */
  private static final String SPREAD = "/spread";

  /** What is created in this one is not. */
  private static final String ORDINARY = "/plain";

  /** Creates the section. */
  SpreadSection(CompareSession with) {
    super(with);
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    Step[] steps = new Step[NAMENODES.length];
    for (int i = 0; i < NAMENODES.length; i++) {
      int namenodes = NAMENODES[i];
      steps[i] = () -> many(namenodes);
    }
    inTurn(steps);
  }

  private void many(int namenodes) throws IOException, InterruptedException {
    LabCluster cluster =
        with.newCluster(
            with.setup().of(namenodes).with("--set", "crail.client.spread=" + SPREAD + "/*"),
            SMALL_BYTES);
    try {
      with.programs().run(cluster.crail("mkdir", SPREAD));
      // The same number in flight at each namenode.
      int depth = DEPTH * namenodes;
      perCpu(
          cluster,
          namenodes,
          creates(namenodes),
          "-t createFileAsync -f " + SPREAD + " -b " + depth,
          CREATE_RATE);
      perCpu(
          cluster,
          namenodes,
          lookups(namenodes),
          "-t getMultiFileAsync -f " + SPREAD + "/names -n " + NAMES + " -b " + depth,
          LOOKUP_RATE);
      if (namenodes == FEW) {
        with.programs().run(cluster.crail("mkdir", ORDINARY));
        // The kernel puts a client beside one server, and cannot put it beside two.
        with.apart(cluster.servers());
        try {
          inTurn(() -> single(cluster, true), () -> single(cluster, false));
        } finally {
          with.anywhere();
        }
      }
    } finally {
      cluster.stop();
    }
  }

  /** With the same number of operations a second at each namenode, so that all sleep as often. */
  private void perCpu(LabCluster cluster, int namenodes, String name, String load, int rate)
      throws IOException, InterruptedException {
    int asked = rate * namenodes;
    long operations = (long) asked * (namenodes == 1 ? SECONDS_OF_ONE : SECONDS);
    String command =
        load
            + " -k "
            + operations
            + " -w "
            + WARM_UP * namenodes
            + " --rate "
            + asked
            + " -e "
            + PACED;
    ServerTime servers = new ServerTime(cluster.namenodes(), cluster.port());
    String text = with.programs().run(cluster.iobench(command, true), servers);
    String shown = LabCluster.shown("iobench", command, true);
    double throughput = Samples.number(lastExperiment(text), "throughput");
    String figure = name + ofPace(throughput, asked);
    samples.add(figure, PER_CPU, shown, operations / servers.seconds());
    samples.add(figure, "/s", shown, throughput);
  }

  /** What the name of a figure says of a pace that was not kept. Then it is not compared. */
  static String ofPace(double throughput, int asked) {
    return throughput >= KEPT * asked
        ? ""
        : String.format(Locale.ROOT, ", left out: %,d/s were asked for", asked);
  }

  private void single(LabCluster cluster, boolean spread) throws IOException, InterruptedException {
    String command =
        "-t getMultiFile -n 1000 -f "
            + (spread ? SPREAD : ORDINARY)
            + "/few"
            + " -k "
            + SINGLE
            + " -w "
            + SINGLE
            + " -e "
            + EXPERIMENTS;
    String text = with.programs().run(with.placed(cluster.iobench(command, true)));
    String shown = with.shown(LabCluster.shown("iobench", command, true));
    latency(single(spread), shown, lastExperiment(text));
  }

  private static String of(int namenodes) {
    return namenodes == 1 ? "1 namenode" : namenodes + " namenodes";
  }

  private static String creates(int namenodes) {
    return "creates in one directory, " + of(namenodes);
  }

  private static String lookups(int namenodes) {
    return "lookups in one directory, " + of(namenodes);
  }

  private static String single(boolean spread) {
    return "lookup, one in flight, " + of(FEW) + (spread ? ", spread directory" : ", ordinary one");
  }

  @Override
  protected void compare() {
    for (int namenodes : NAMENODES) {
      if (namenodes > 1) {
        beside(creates(namenodes), creates(1), namenodes == 8 ? 0.95 : 0);
        beside(lookups(namenodes), lookups(1), 0);
      }
    }
    goals.add(single(true), single(false), "us p50", 1.05);
    plot(
        new Plot(
            "spread",
            "One directory over namenodes, by their processor time",
            "operations per processor second",
            PER_CPU,
            Plot.Axis.LABELS,
            List.of(series("creates", true), series("lookups", false))));
  }

  private void beside(String figure, String ofOne, double factor) {
    if (isTaken(figure) && isTaken(ofOne)) {
      goals.add(figure, ofOne, PER_CPU, factor);
    }
  }

  /** Whether its pace was kept in a run. */
  private boolean isTaken(String figure) {
    return samples.has(figure, PER_CPU);
  }

  private Plot.Series series(String name, boolean ofCreates) {
    Map<String, String> points = new LinkedHashMap<>();
    for (int namenodes : NAMENODES) {
      String figure = ofCreates ? creates(namenodes) : lookups(namenodes);
      if (isTaken(figure)) {
        points.put(of(namenodes), figure);
      }
    }
    return new Plot.Series(name, points);
  }
}
