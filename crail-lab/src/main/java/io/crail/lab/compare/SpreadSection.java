/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
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

  /** The kernel counts in hundredths of a second. That is 2 % of what one namenode works. */
  private static final int SECONDS = 6;

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
        inTurn(() -> single(cluster, true), () -> single(cluster, false));
      }
    } finally {
      cluster.stop();
    }
  }

  /** With the same number of operations a second at each namenode, so that all sleep as often. */
  private void perCpu(LabCluster cluster, int namenodes, String name, String load, int rate)
      throws IOException, InterruptedException {
    long operations = (long) rate * namenodes * SECONDS;
    String command =
        load
            + " -k "
            + operations
            + " -w "
            + WARM_UP * namenodes
            + " --rate "
            + rate * namenodes
            + " -e "
            + PACED;
    ServerTime servers = new ServerTime(cluster.namenodes(), cluster.port());
    String text = with.programs().run(cluster.iobench(command, true), servers);
    String shown = LabCluster.shown("iobench", command, true);
    samples.add(name, PER_CPU, shown, operations / servers.seconds());
    samples.add(name, "/s", shown, Samples.number(lastExperiment(text), "throughput"));
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
    String text = with.programs().run(cluster.iobench(command, true));
    latency(single(spread), LabCluster.shown("iobench", command, true), lastExperiment(text));
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
        goals.add(creates(namenodes), creates(1), PER_CPU, namenodes == 8 ? 0.95 : 0);
        goals.add(lookups(namenodes), lookups(1), PER_CPU, 0);
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

  private static Plot.Series series(String name, boolean ofCreates) {
    Map<String, String> points = new LinkedHashMap<>();
    for (int namenodes : NAMENODES) {
      points.put(of(namenodes), ofCreates ? creates(namenodes) : lookups(namenodes));
    }
    return new Plot.Series(name, points);
  }
}
