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
 * takes in a spread directory, beside one in another directory of the same cluster.
 */
final class SpreadSection extends Section {
  private static final int[] NAMENODES = {1, 2, 4, 8};

  /** The namenodes of the cluster for single operations. */
  private static final int FEW = 2;

  private static final long SMALL_BYTES = 64 << 20;
  private static final long CREATES = 200_000;
  private static final int NAMES = 200_000;
  private static final long LOOKUPS = 1_000_000;
  private static final long SINGLE = 8_000;
  private static final int EXPERIMENTS = 3;
  private static final String PER_CPU = "/CPU s";

  /** What is created in this directory is spread, if there are several namenodes. */
  private static final String SPREAD = "/spread";

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
      // The same number in flight at each namenode.
      int depth = DEPTH * namenodes;
      perCpu(
          cluster, creates(namenodes), "-t createFileAsync -f " + SPREAD + " -b " + depth, CREATES);
      perCpu(
          cluster,
          lookups(namenodes),
          "-t getMultiFileAsync -f " + SPREAD + "/names -n " + NAMES + " -b " + depth,
          LOOKUPS);
      if (namenodes == FEW) {
        inTurn(() -> single(cluster, true), () -> single(cluster, false));
      }
    } finally {
      cluster.stop();
    }
  }

  private void perCpu(LabCluster cluster, String name, String load, long operations)
      throws IOException, InterruptedException {
    String command = load + " -k " + operations + " -w " + operations + " -e " + EXPERIMENTS;
    ServerTime servers = new ServerTime(cluster.namenodes(), cluster.port());
    String text = with.programs().run(cluster.iobench(command, true), servers);
    String shown = LabCluster.shown("iobench", command, true);
    samples.add(name, PER_CPU, shown, operations / servers.seconds());
    samples.add(name, "/s", shown, Samples.number(lastExperiment(text), "throughput"));
  }

  private void single(LabCluster cluster, boolean spread) throws IOException, InterruptedException {
    String directory = spread ? SPREAD : "/plain";
    String rest = " -k " + SINGLE + " -w " + SINGLE + " -e " + EXPERIMENTS;
    one(cluster, single("create", spread), "-t createFile -f " + directory + rest);
    one(
        cluster,
        single("lookup", spread),
        "-t getMultiFile -f " + directory + "/few -n 1000" + rest);
  }

  private void one(LabCluster cluster, String name, String command)
      throws IOException, InterruptedException {
    String text = with.programs().run(cluster.iobench(command, true));
    latency(name, LabCluster.shown("iobench", command, true), lastExperiment(text));
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

  private static String single(String what, boolean spread) {
    return what + ", one in flight, " + of(FEW) + (spread ? ", spread" : "");
  }

  @Override
  protected void compare() {
    for (int namenodes : NAMENODES) {
      if (namenodes > 1) {
        goals.add(creates(namenodes), creates(1), PER_CPU, namenodes == 8 ? 0.95 : 0);
        goals.add(lookups(namenodes), lookups(1), PER_CPU, 0);
      }
    }
    for (String what : List.of("create", "lookup")) {
      goals.add(single(what, true), single(what, false), "us p50", 1.05);
    }
    plot(
        new Plot(
            "spread",
            "One directory over namenodes, by their processor time",
            "operations per processor second",
            PER_CPU,
            false,
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
