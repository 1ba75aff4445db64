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
 * The common part of the sections of a comparison: the servers, each started at its first use, and
 * the ways to load them. Used by one thread.
 */
final class CompareSession {
  private static final long DATANODE_BYTES = 4L << 30;

  /** The variable whose options the launcher adds to a client's JVM. */
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
  private List<Process> placed = List.of();
  private LabCluster cluster;
  private Redis redis;
  private Hdfs hdfs;

  /** The programs that Crail is compared with. Any of them may be missing. */
  enum Peer {
    REDIS("Redis"),
    HDFS("HDFS"),
    IPERF("iperf3"),
    TASKSET("placing on processors"),
    FLASH("flash");

    private final String label;

    Peer(String label) {
      this.label = label;
    }

    /** The name for people. */
    String label() {
      return label;
    }
  }

  /**
   * The surroundings of a comparison.
   *
   * @param launcher starts Crail's processes
   * @param settings {@code key=value} for all of them
   * @param hdfs directory of HDFS's jars, whose name ends with their version; null when there is
   *     none
   */
  record Surroundings(String launcher, List<String> settings, Path hdfs) {
    /** The missing peers, and why each is missing. */
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
   * Creates a comparison. Nothing is started yet.
   *
   * @param regions a directory in memory
   * @param err where progress goes
   */
  CompareSession(
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
    if (options.flash() == null) {
      lacks.put(Peer.FLASH, "there is no target of NVMe over Fabrics; --flash names one");
    }
    // A configuration for another cluster on this host must not affect the figures.
    Path nothing = Files.createFile(regions.resolve("crail-site.conf"));
    LabCluster.Setup own = LabCluster.Setup.PLAIN.with("--conf", nothing.toString());
    for (String setting : surroundings.settings) {
      own = own.with("--set", setting);
    }
    this.setup = own;
  }

  /** The programs. */
  Programs programs() {
    return programs;
  }

  /** The options. */
  CompareOptions options() {
    return options;
  }

  /** A directory in memory. */
  Path regions() {
    return regions;
  }

  /**
   * A file for the bare limits, beside the files of the datanode. Its memory stays allocated from
   * one program to the next.
   */
  Path limitRegion() {
    return regions.resolve("limits");
  }

  /** Releases the memory of the bare limits. */
  void dropLimitRegion() throws IOException {
    Files.deleteIfExists(limitRegion());
  }

  /** Reports progress. */
  void say(String text) {
    err.println(text);
  }

  /** Whether a peer is there. */
  boolean has(Peer peer) {
    return !lacks.containsKey(peer);
  }

  /** The missing peers, with reasons. */
  Map<Peer, String> lacks() {
    return lacks;
  }

  /** How a cluster of Crail is set up here. */
  LabCluster.Setup setup() {
    return setup;
  }

  /** {@code key=value} for a client that is no command of Crail. */
  List<String> clientSettings() {
    return surroundings.settings;
  }

  /** The cluster that most sections use. */
  LabCluster cluster() throws IOException, InterruptedException {
    if (cluster == null) {
      cluster = newCluster(setup, DATANODE_BYTES);
    }
    return cluster;
  }

  /** Another cluster, whose datanode lends {@code bytes}. */
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
   * Lets clients start with an archive of their classes. A run starts hundreds of clients, and
   * loading classes is half of each start. No figure includes it.
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

  /** Ends HDFS if it runs. It is started again when it is needed. */
  void stopHdfs() throws InterruptedException {
    if (hdfs != null) {
      programs.stop(hdfs.process());
      hdfs = null;
    }
  }

  /**
   * Puts all servers on the first processor, and clients that start from now on on the second,
   * where that is possible. A latency depends on which thread wakes which on which processor. The
   * kernel decides that anew for each process, which would distort the comparison.
   */
  void apart() throws IOException, InterruptedException {
    List<Process> servers = new ArrayList<>(cluster().servers());
    if (has(Peer.REDIS)) {
      servers.add(redis().process());
    }
    apart(servers);
  }

  /** As the other method, with the servers of another cluster. */
  void apart(List<Process> servers) throws IOException, InterruptedException {
    if (has(Peer.TASKSET)) {
      for (Process server : servers) {
        pin("0", server);
      }
      placed = servers;
      clientPlace = taskset("1");
    }
  }

  /** Lets the kernel place servers and clients again. */
  void anywhere() throws IOException, InterruptedException {
    clientPlace = List.of();
    for (Process server : placed) {
      unpin(server);
    }
    placed = List.of();
  }

  /** Puts all threads of a process on some processors. */
  void pin(String processors, Process process) throws IOException, InterruptedException {
    programs.run(List.of("taskset", "-a", "-c", "-p", processors, String.valueOf(process.pid())));
  }

  /** Lets the kernel place a process again. */
  void unpin(Process process) throws IOException, InterruptedException {
    pin("0-" + (Runtime.getRuntime().availableProcessors() - 1), process);
  }

  /** The words before a command that is to run on some processors. */
  static List<String> taskset(String processors) {
    return List.of("taskset", "-c", processors);
  }

  /** A client's command, on its processors. */
  List<String> placed(List<String> command) {
    List<String> all = new ArrayList<>(clientPlace);
    all.addAll(command);
    return all;
  }

  /** A client's command together with its processors. */
  String shown(String command) {
    return clientPlace.isEmpty() ? command : String.join(" ", clientPlace) + " " + command;
  }

  /** Runs iobench against the cluster. Returns its output. */
  String iobench(String arguments, boolean mapped) throws IOException, InterruptedException {
    return programs.run(placed(cluster().iobench(arguments, mapped)));
  }

  /** Runs hdfsbench against HDFS. Returns its output. */
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

  /** The settings with which the programs were started. */
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
              + " whether it holds the values; transactions by a program in Java, a thread for each"
              + " client");
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
    if (has(Peer.FLASH)) {
      texts.add("Flash: " + options.flash());
    }
    texts.add(
        "Apache Crail: not run; its figure was recorded on 2026-11-21, on two processors of a Xeon"
            + " with 2.6 GHz: last source, TCP binding, three JVMs, 128 lookups in flight, the most"
            + " of several runs");
    texts.add("Limits: Java programs of io.crail.lab.limits with the same sizes; iperf3 -l 1M");
    return texts;
  }

  /** The versions of all programs. */
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

  /** The commit of the clone, and whether files have changed since; empty when unknown. */
  private String commit() throws InterruptedException {
    Path directory = Path.of(surroundings.launcher).toAbsolutePath().getParent();
    try {
      String root = git(directory, "rev-parse", "--show-toplevel");
      return Files.exists(Path.of(root, "crail-bench"))
          ? " (" + git(directory, "describe", "--always", "--dirty", "--exclude", "*") + ")"
          : "";
    } catch (IOException e) {
      // This is no clone, or there is no git.
      return "";
    }
  }

  private String git(Path directory, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git", "-C", directory.toString()));
    command.addAll(List.of(words));
    return programs.run(command).strip();
  }
}
