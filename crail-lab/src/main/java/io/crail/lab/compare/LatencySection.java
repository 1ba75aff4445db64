/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Plot;
import io.crail.lab.programs.LabCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One lookup in flight, compared with a bare ping-pong of the same sizes, the same way to wait and
 * the same processors: both ends on one processor, each end on its own, and both spinning there.
 */
final class LatencySection extends Section {
  private static final String FILE = "/ready.dat";
  private static final String LOAD = "-t getFile -f " + FILE + " -k 10000 -w 25000";
  private static final long PINGS = 10_000;
  private static final String SERVER = "0";
  private static final String SPINNING = "two processors, spinning";
  private static final String[] SLEEPING = {"one processor", "two processors"};

  private LabCluster spinning;

  /** Creates the section. */
  LatencySection(CompareSession with) {
    super(with);
  }

  @Override
  protected void run() throws IOException, InterruptedException {
    if (!has(CompareSession.Peer.TASKSET)) {
      return;
    }
    for (String place : SLEEPING) {
      String client = place.startsWith("one") ? SERVER : "1";
      Process namenode = with.cluster().namenodes().get(0);
      with.pin(SERVER, namenode);
      try {
        inTurn(
            () -> ping("blocking", place, client),
            () -> lookup(with.cluster(), place, client, ""),
            () -> ping("selector", place, client));
      } finally {
        with.unpin(namenode);
      }
    }
    inTurn(this::spin, () -> ping("spin", SPINNING, "1"));
  }

  /**
   * Looks up at a namenode that spins. It uses a whole processor, so it is paused before and after.
   */
  private void spin() throws IOException, InterruptedException {
    if (spinning == null) {
      spinning =
          with.newCluster(
              with.setup()
                  .with(
                      "--set",
                      "crail.spintime=always",
                      "--set",
                      "crail.namenode.tcp.cores=1",
                      "--set",
                      "crail.storage.tcp.cores=1"),
              64 << 20);
      // The datanode has nothing to do, and must not spin on the client's processor.
      with.programs().stop(spinning.datanode());
      with.pin(SERVER, spinning.namenodes().get(0));
    } else {
      signal("CONT");
    }
    lookup(spinning, SPINNING, "1", " --set crail.spintime=always");
    signal("STOP");
  }

  private void signal(String name) throws IOException, InterruptedException {
    long namenode = spinning.namenodes().get(0).pid();
    with.programs().run(List.of("sh", "-c", "kill -" + name + " " + namenode));
  }

  @Override
  protected void end() throws IOException, InterruptedException {
    if (spinning != null) {
      if (spinning.namenodes().get(0).isAlive()) {
        // A paused process would not react to its end signal.
        signal("CONT");
      }
      spinning.stop();
    }
  }

  private void ping(String mode, String place, String client)
      throws IOException, InterruptedException {
    Echo echo = Echo.lookup(mode, FILE);
    String text =
        echo.run(
            with.programs(),
            1,
            PINGS,
            CompareSession.taskset(SERVER),
            CompareSession.taskset(client));
    latency(pingName(mode, place), echo.shown(), text);
  }

  private static String pingName(String mode, String place) {
    return "ping-pong, " + mode + ", " + place;
  }

  private static String crailName(String place) {
    return "getFile, one in flight, " + place;
  }

  private void lookup(LabCluster cluster, String place, String client, String more)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(CompareSession.taskset(client));
    command.addAll(cluster.iobench(LOAD + more, true));
    latency(
        crailName(place),
        "taskset -c " + client + " " + LabCluster.shown("iobench", LOAD + more, true),
        with.programs().run(command));
  }

  @Override
  protected void compare() {
    if (!has(CompareSession.Peer.TASKSET)) {
      return;
    }
    Map<String, String> crail = new LinkedHashMap<>();
    Map<String, String> bare = new LinkedHashMap<>();
    for (String place : SLEEPING) {
      goals.add(crailName(place), pingName("blocking", place), "us p50", 1.4);
      goals.add(crailName(place), pingName("selector", place), "us p50", 1.4);
      crail.put(place, crailName(place));
      bare.put(place, pingName("blocking", place));
    }
    goals.add(crailName(SPINNING), pingName("spin", SPINNING), "us p50", 1.4);
    crail.put(SPINNING, crailName(SPINNING));
    bare.put(SPINNING, pingName("spin", SPINNING));
    plot(
        new Plot(
            "lookup-latency",
            "One lookup in flight",
            "median latency [µs]",
            "us p50",
            Plot.Axis.LABELS,
            List.of(
                new Plot.Series("Crail, getFile", crail),
                new Plot.Series("bare ping-pong", bare))));
  }
}
