/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.programs.Hdfs;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Programs;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What the sections of a comparison share: the servers, each started when it is first needed, and
 * the ways to load them. Used by one thread.
 */
final class Comparison {
  private static final long DATANODE_BYTES = 4L << 30;

  /** What the launcher adds to the options of a client's JVM. */
  private static final String CLIENT_OPTIONS = "CRAIL_CLIENT_OPTS";

  private final Programs programs;
  private final Surroundings surroundings;
  private final CompareOptions options;
  private final Path regions;
  private final PrintStream err;
  private final Map<Peer, String> lacks;
  private final LabCluster.Setup setup;
  private boolean archived;
  private List<String> clientPlace = List.of();
  private LabCluster cluster;
  private Redis redis;
  private Hdfs hdfs;

  /** What Crail is compared with, and what may not be there. */
  enum Peer {
    REDIS("Redis"),
    HDFS("HDFS"),
    IPERF("iperf3"),
    TASKSET("placing on processors");

    private final String label;

    Peer(String label) {
      this.label = label;
    }

    /** What people call it. */
    String label() {
      return label;
    }
  }

  /**
   * Where a comparison takes place.
   *
   * @param launcher of Crail's processes
   * @param settings {@code key=value} for all of them
   * @param hdfs directory of HDFS's jars, whose name ends in their version; null when there is none
   */
  record Surroundings(String launcher, List<String> settings, Path hdfs) {
    /** Why something cannot be compared with, by what it is. */
    Map<Peer, String> lacks() {
      Map<Peer, String> lacks = new EnumMap<>(Peer.class);
      if (!Programs.isInstalled("redis-server") || !Programs.isInstalled("redis-benchmark")) {
        lacks.put(Peer.REDIS, "redis-server is not installed (Debian: apt-get install redis)");
      }
      if (!Programs.isInstalled("iperf3")) {
        lacks.put(Peer.IPERF, "iperf3 is not installed (Debian: apt-get install iperf3)");
      }
      if (!Programs.isInstalled("taskset") || Runtime.getRuntime().availableProcessors() < 2) {
        lacks.put(
            Peer.TASKSET, "needs taskset (Debian: apt-get install util-linux) and two processors");
      }
      if (hdfs == null) {
        lacks.put(Peer.HDFS, "its jars are not here; bin/crail compare of a clone fetches them");
      }
      return lacks;
    }
  }

  /**
   * Starts nothing.
   *
   * @param regions a directory in memory
   * @param err where it tells what it does
   */
  Comparison(
      Programs programs,
      Surroundings surroundings,
      CompareOptions options,
      Path regions,
      PrintStream err)
      throws IOException {
    this.programs = programs;
    this.surroundings = surroundings;
    this.options = options;
    this.regions = regions;
    this.err = err;
    this.lacks = surroundings.lacks();
    // Whatever is configured here for another cluster stays out of the figures.
    Path nothing = Files.createFile(regions.resolve("crail-site.conf"));
    LabCluster.Setup own = LabCluster.Setup.PLAIN.with("--conf", nothing.toString());
    for (String setting : surroundings.settings) {
      own = own.with("--set", setting);
    }
    this.setup = own;
  }

  /** Its programs. */
  Programs programs() {
    return programs;
  }

  /** What was asked for. */
  CompareOptions options() {
    return options;
  }

  /** A directory in memory. */
  Path regions() {
    return regions;
  }

  /**
   * A file of the bare limits, beside those of the datanode: it keeps its memory from one program
   * to the next.
   */
  Path limitRegion() {
    return regions.resolve("limits");
  }

  /** Gives back the memory of the bare limits. */
  void dropLimitRegion() throws IOException {
    Files.deleteIfExists(limitRegion());
  }

  /** Tells what it does. */
  void say(String text) {
    err.println(text);
  }

  /** Whether something is there. */
  boolean has(Peer peer) {
    return !lacks.containsKey(peer);
  }

  /** What is not there, with the reason. */
  Map<Peer, String> lacks() {
    return lacks;
  }

  /** What a cluster of Crail is like here. */
  LabCluster.Setup setup() {
    return setup;
  }

  /** The cluster that most sections measure. */
  LabCluster cluster() throws IOException, InterruptedException {
    if (cluster == null) {
      cluster = newCluster(setup, DATANODE_BYTES);
    }
    return cluster;
  }

  /** Another cluster, whose datanode lends so many bytes. */
  LabCluster newCluster(LabCluster.Setup like, long bytes)
      throws IOException, InterruptedException {
    LabCluster started = LabCluster.start(programs, surroundings.launcher, regions, bytes, like);
    if (!archived) {
      archived = true;
      archiveClasses(started);
    }
    return started;
  }

  /**
   * Lets clients begin with an archive of their classes. Some hundred start in a run, and to load
   * classes is half of what a start costs; nothing of it is in a figure.
   */
  private void archiveClasses(LabCluster of) throws InterruptedException {
    String options = System.getenv().getOrDefault(CLIENT_OPTIONS, "");
    Path archive = programs.directory().resolve("clients.jsa");
    programs.setEnvironment(CLIENT_OPTIONS, options + " -XX:ArchiveClassesAtExit=" + archive);
    try {
      programs.run(of.iobench("-t write -s 4096 -k 10 -w 10 -f /archive.dat", false));
    } catch (IOException e) {
      say("  clients start without an archive of their classes: " + e.getMessage());
    }
    programs.setEnvironment(
        CLIENT_OPTIONS,
        Files.exists(archive)
            ? options + " -XX:SharedArchiveFile=" + archive + " -Xlog:cds=off"
            : options);
  }

  /** The Redis server. */
  Redis redis() throws IOException, InterruptedException {
    if (redis == null) {
      redis = Redis.start(programs, LabCluster.freePort());
    }
    return redis;
  }

  /** HDFS. */
  Hdfs hdfs() throws IOException, InterruptedException {
    if (hdfs == null) {
      say("  starting HDFS ...");
      hdfs = Hdfs.start(programs, surroundings.hdfs, regions);
    }
    return hdfs;
  }

  /** Ends HDFS, if it runs; it starts anew when it is needed again. */
  void stopHdfs() throws InterruptedException {
    if (hdfs != null) {
      programs.stop(hdfs.process());
      hdfs = null;
    }
  }

  /**
   * Puts all servers on the first processor and clients that start from now on on the second, where
   * that can be done. Who wakes whom on which processor decides a latency, and the kernel decides
   * it anew for each process, so what is compared would differ by that.
   */
  void apart() throws IOException, InterruptedException {
    if (has(Peer.TASKSET)) {
      for (Process server : servers()) {
        pin("0", server);
      }
      clientPlace = taskset("1");
    }
  }

  /** Lets the kernel place servers and clients again. */
  void anywhere() throws IOException, InterruptedException {
    if (!clientPlace.isEmpty()) {
      clientPlace = List.of();
      for (Process server : servers()) {
        unpin(server);
      }
    }
  }

  private List<Process> servers() throws IOException, InterruptedException {
    List<Process> servers = new ArrayList<>(cluster().namenodes());
    servers.add(cluster().datanode());
    if (has(Peer.REDIS)) {
      servers.add(redis().process());
    }
    return servers;
  }

  /** Puts all threads of a process on some processors. */
  void pin(String processors, Process process) throws IOException, InterruptedException {
    programs.run(List.of("taskset", "-a", "-c", "-p", processors, String.valueOf(process.pid())));
  }

  /** Lets the kernel place a process again. */
  void unpin(Process process) throws IOException, InterruptedException {
    pin("0-" + (Runtime.getRuntime().availableProcessors() - 1), process);
  }

  /** What stands in front of a command that is to run on some processors. */
  static List<String> taskset(String processors) {
    return List.of("taskset", "-c", processors);
  }

  private List<String> placed(List<String> command) {
    List<String> all = new ArrayList<>(clientPlace);
    all.addAll(command);
    return all;
  }

  /** A client's command with where it runs. */
  String shown(String command) {
    return clientPlace.isEmpty() ? command : String.join(" ", clientPlace) + " " + command;
  }

  /** Runs iobench against the cluster; gives what it printed. */
  String iobench(String arguments, boolean mapped) throws IOException, InterruptedException {
    return programs.run(placed(cluster().iobench(arguments, mapped)));
  }

  /** Runs hdfsbench against HDFS; gives what it printed. */
  String hdfsbench(String arguments, String path) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(cluster().crail("hdfsbench"));
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-f", hdfs().uri(path), "--set", Hdfs.SETTING));
    return programs.run(command);
  }

  /** The same as a user would write it. */
  static String shownHdfs(String arguments, String path) {
    return "crail hdfsbench " + arguments + " -f hdfs://..." + path + " --set " + Hdfs.SETTING;
  }

  /** Runs redis-benchmark. */
  Redis.Result redis(Redis.Load load) throws IOException, InterruptedException {
    return Redis.parse(programs.run(placed(redis().command(load))));
  }

  /** A command that runs a class of this program. */
  static List<String> java(String main, Object... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return command;
  }

  /** What every program was started with that takes part. */
  List<String> settings() {
    List<String> texts = new ArrayList<>();
    texts.add(
        "Crail: namenode, datanode (bytes in /dev/shm) and each client are processes of their own; "
            + (surroundings.settings.isEmpty()
                ? "defaults"
                : "--set " + String.join(" --set ", surroundings.settings))
            + ", so a thread sleeps when there is nothing to do, but where \"spinning\" is said;"
            + " clients start from an archive of their classes");
    if (has(Peer.REDIS)) {
      texts.add(
          "Redis: redis-server --save \"\" --appendonly no, so in memory only, else defaults;"
              + " redis-benchmark with the options shown; filled anew before each load, and asked"
              + " whether it holds the values");
    }
    if (has(Peer.HDFS)) {
      texts.add(
          "HDFS: namenode and one datanode of Hadoop's own test cluster in a process of their own,"
              + " bytes in /dev/shm, "
              + Hdfs.SETTING
              + ", no short-circuit reads, no wait for a disk at its edit log; else defaults");
    }
    if (has(Peer.TASKSET)) {
      texts.add(
          "Processors: where \"taskset\" stands in front of a client, and where \"two processors\" is"
              + " said, servers have one and clients another; elsewhere the kernel places them");
    }
    texts.add(
        "Connections: one of each client of either, which are threads of one process with Crail and"
            + " sockets of one thread with Redis, but where \"a thread for each client\" is said");
    texts.add(
        "Apache Crail: not run; its figure was recorded on 2026-11-21, on two processors of a Xeon"
            + " with 2.6 GHz: last source, TCP binding, three JVMs, 128 lookups in flight, the most"
            + " of several runs");
    texts.add("Limits: Java programs of io.crail.bench.limits with the same sizes; iperf3 -l 1M");
    return texts;
  }

  /** The versions of all that takes part. */
  List<String> versions() throws IOException, InterruptedException {
    List<String> versions = new ArrayList<>();
    versions.add(LabCluster.version(programs, surroundings.launcher) + commit());
    if (has(Peer.REDIS)) {
      String text = programs.run(List.of("redis-server", "--version")).split(" ")[2];
      versions.add("redis " + text.replace("v=", ""));
    }
    if (has(Peer.HDFS)) {
      versions.add("Hadoop " + surroundings.hdfs.getFileName().toString().replace("hdfs-", ""));
    }
    if (has(Peer.IPERF)) {
      versions.add(programs.run(List.of("iperf3", "--version")).split("\n")[0]);
    }
    return versions;
  }

  /** The commit that a clone is at, and whether something has been changed since; or nothing. */
  private String commit() throws InterruptedException {
    Path directory = Path.of(surroundings.launcher).toAbsolutePath().getParent();
    try {
      String root = git(directory, "rev-parse", "--show-toplevel");
      return Files.exists(Path.of(root, "crail-bench"))
          ? " (" + git(directory, "describe", "--always", "--dirty", "--exclude", "*") + ")"
          : "";
    } catch (IOException e) {
      // No clone, or no git.
      return "";
    }
  }

  private String git(Path directory, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-C", directory.toString()));
    command.addAll(List.of(words));
    return programs.run(command).strip();
  }
}
