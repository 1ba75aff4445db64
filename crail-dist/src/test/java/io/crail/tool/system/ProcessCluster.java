/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.testkit.nemesis.Role;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Namenodes and datanodes, each in a process of its own, on free ports. */
final class ProcessCluster implements AutoCloseable {
  static final Duration PATIENCE =
      Duration.ofSeconds(Integer.getInteger("crail.test.patience", 90));

  /** What a datanode of these tests lends, and some more. */
  private static final long ENOUGH_BYTES = 68 << 20;

  private static final int MOST_ATTEMPTS = 5;

  private static final Pattern PORT_TAKEN =
      Pattern.compile("cannot listen on .*in use", Pattern.CASE_INSENSITIVE);

  private final Path directory;
  private final Path dataPath;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final List<CrailProcess> namenodes = new ArrayList<>();
  private final List<CrailProcess> datanodes = new ArrayList<>();
  private final List<List<String>> datanodeArguments = new ArrayList<>();
  private final List<InetSocketAddress> namenodeAddresses = new ArrayList<>();
  private final List<InetSocketAddress> datanodeAddresses = new ArrayList<>();
  private final Places places;
  private int peers = 1;

  /**
   * Where the processes of a cluster run.
   *
   * @param host the address of a namenode, by its index
   * @param through the command that starts a process of a role there, and then is replaced by it
   * @param memory the directory of the datanodes' memory; null for the usual one
   * @param options what a process of a role is started with besides
   */
  record Places(
      IntFunction<String> host,
      BiFunction<Role, Integer, List<String>> through,
      Path memory,
      Function<Role, List<String>> options) {
    /** Without options. */
    Places(IntFunction<String> host, BiFunction<Role, Integer, List<String>> through, Path memory) {
      this(host, through, memory, role -> List.of());
    }

    /** On an address of this host. */
    static Places on(String host) {
      return new Places(index -> host, (role, index) -> List.of(), null);
    }
  }

  private ProcessCluster(Places places, Map<String, String> settings) throws IOException {
    this.places = places;
    // No deadline passes because a machine pauses for seconds, unless a test asks for that.
    this.settings.put("crail.rpctimeout", "60s");
    this.settings.put("crail.datatimeout", "60s");
    // Some have networks of their own.
    this.settings.put("crail.open", "true");
    this.settings.putAll(settings);
    directory = Files.createTempDirectory("crail-system-test");
    Path memory = Path.of("/dev/shm");
    // A container often has no more than 64 MiB there.
    boolean isRoomy = Files.isWritable(memory) && memory.toFile().getUsableSpace() >= ENOUGH_BYTES;
    Path usual = isRoomy ? memory : directory;
    dataPath =
        Files.createTempDirectory(
            places.memory == null ? usual : places.memory, "crail-system-test");
  }

  /** Starts a cluster on 127.0.0.1. */
  static ProcessCluster start(int namenodes, int datanodes, Map<String, String> settings)
      throws Exception {
    return start("127.0.0.1", namenodes, datanodes, settings);
  }

  /** Starts a cluster on 127.0.0.1 whose servers log to stderr as they do by default. */
  static ProcessCluster startLogging(int namenodes, int datanodes) throws Exception {
    return start(
        new ProcessCluster(Places.on("127.0.0.1"), Map.of()),
        namenodes,
        datanodes,
        Path.of("..", "conf"));
  }

  /** Starts a namenode that logs, with options for its JVM, and a datanode. */
  static ProcessCluster startSmall(String options, Map<String, String> settings) throws Exception {
    ProcessCluster cluster = new ProcessCluster(Places.on("127.0.0.1"), settings);
    Files.writeString(
        cluster.directory.resolve("crail-env.sh"), "CRAIL_NAMENODE_OPTS=\"" + options + "\"\n");
    return start(cluster, 1, 1, Path.of("..", "conf"));
  }

  /** Starts a cluster on a loopback address. */
  static ProcessCluster start(
      String host, int namenodes, int datanodes, Map<String, String> settings) throws Exception {
    return start(Places.on(host), namenodes, datanodes, settings);
  }

  /** Starts a cluster somewhere. */
  static ProcessCluster start(
      Places places, int namenodes, int datanodes, Map<String, String> settings) throws Exception {
    return start(new ProcessCluster(places, settings), namenodes, datanodes, null);
  }

  /**
   * Starts a cluster whose namenodes have several peers. All methods count processes of namenodes:
   * first the peers of the first one, and so on. Each keeps its log in a directory of its own below
   * {@code crail.namenode.datapath}, see {@link #logOf}.
   */
  static ProcessCluster start(
      Places places, int namenodes, int peers, int datanodes, Map<String, String> settings)
      throws Exception {
    ProcessCluster cluster = new ProcessCluster(places, settings);
    cluster.peers = peers;
    return start(cluster, namenodes * peers, datanodes, null);
  }

  /** The directory of the log of a process of a namenode, in that of all logs. */
  static Path logOf(Path logs, int peers, int index) {
    Path own = peers == 1 ? logs : logs.resolve("peer-" + index);
    return own.resolve("namenode-" + index / peers);
  }

  private static ProcessCluster start(
      ProcessCluster cluster, int namenodes, int datanodes, Path logging) throws Exception {
    boolean started = false;
    try {
      if (logging != null) {
        String file = "log4j2-server.xml";
        Files.copy(logging.resolve(file), cluster.directory.resolve(file));
      }
      cluster.startNamenodes(namenodes);
      for (int i = 0; i < datanodes; i++) {
        cluster.launchDatanode("tcp", "64m", -1);
      }
      // Their JVMs start side by side.
      for (int i = 0; i < datanodes; i++) {
        cluster.awaitDatanode(i);
      }
      started = true;
      return cluster;
    } finally {
      if (!started) {
        cluster.close();
      }
    }
  }

  private void startNamenodes(int count) throws Exception {
    int attempt = 1;
    while (!startNamenodes(freePorts(count))) {
      if (attempt++ == MOST_ATTEMPTS) {
        throw new AssertionError("no free ports for namenodes: " + namenodes.get(0).stderr());
      }
      namenodes.clear();
      namenodeAddresses.clear();
    }
  }

  /**
   * Starts namenodes that know each other's addresses from the beginning.
   *
   * @return false when somebody has taken a port; then none runs
   */
  private boolean startNamenodes(List<Integer> ports) throws Exception {
    List<String> addresses = new ArrayList<>();
    for (int index = 0; index < ports.size(); index++) {
      addresses.add(addressText(places.host.apply(index), ports.get(index)));
    }
    writeConfiguration(joined(addresses, peers));
    for (int index = 0; index < ports.size(); index++) {
      namenodes.add(namenode(index, ports.get(index)));
    }
    try {
      for (int index = 0; index < ports.size(); index++) {
        namenodeAddresses.add(awaitNamenode(index));
      }
      return true;
    } catch (AssertionError e) {
      if (namenodes.stream().noneMatch(ProcessCluster::lacksPort)) {
        throw e;
      }
      for (CrailProcess each : namenodes) {
        each.kill();
      }
      return false;
    }
  }

  private static boolean lacksPort(CrailProcess namenode) {
    return !namenode.isAlive() && PORT_TAKEN.matcher(namenode.stderr()).find();
  }

  /** Ports that are free now, all different. Until they are used, others may take them. */
  private static List<Integer> freePorts(int count) throws IOException {
    List<Integer> ports = new ArrayList<>();
    List<ServerSocket> reserved = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        reserved.add(new ServerSocket(0));
        ports.add(reserved.get(i).getLocalPort());
      }
    } finally {
      for (ServerSocket each : reserved) {
        each.close();
      }
    }
    return ports;
  }

  /** Addresses of processes as the configuration names them. */
  static String joined(List<String> addresses, int peers) {
    List<String> namenodes = new ArrayList<>();
    for (int i = 0; i < addresses.size(); i += peers) {
      namenodes.add(String.join("|", addresses.subList(i, i + peers)));
    }
    return String.join(",", namenodes);
  }

  private CrailProcess namenode(int index, int port) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("namenode"));
    arguments.addAll(List.of("-i", String.valueOf(index / peers), "-p", String.valueOf(port)));
    if (peers > 1) {
      Path logs = Path.of(settings.get("crail.namenode.datapath"));
      Path own = logOf(logs, peers, index).getParent();
      arguments.addAll(List.of("--set", "crail.namenode.datapath=" + own));
    }
    arguments.addAll(places.options.apply(Role.NAMENODE));
    return CrailProcess.crail(
        places.through.apply(Role.NAMENODE, index), directory, arguments.toArray(new String[0]));
  }

  InetSocketAddress awaitNamenode(int index) throws Exception {
    String line =
        peers == 1
            ? "^namenode " + index + " of \\d+ serves on (.*)$"
            : "^peer " + index % peers + " of namenode " + index / peers + " takes part on (.*)$";
    return ConfigType.parseAddress(namenodes.get(index).await(line, PATIENCE).group(1));
  }

  private static String addressText(String host, int port) {
    return "crail://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  private void writeConfiguration(String addresses) throws IOException {
    settings.put("crail.namenode.address", addresses);
    StringBuilder text = new StringBuilder();
    settings.forEach((key, value) -> text.append(key).append(' ').append(value).append('\n'));
    Files.writeString(directory.resolve("crail-site.conf"), text);
  }

  /**
   * Starts one more datanode and waits until it is registered.
   *
   * @param size what it lends
   * @param storageClass the class that it serves, or -1 for the tier's
   * @return its index
   */
  int startDatanode(String size, int storageClass) throws Exception {
    return startDatanode("tcp", size, storageClass);
  }

  /** Starts one more datanode of a tier. */
  int startDatanode(String tier, String size, int storageClass) throws Exception {
    launchDatanode(tier, size, storageClass);
    int index = datanodes.size() - 1;
    awaitDatanode(index);
    return index;
  }

  private void launchDatanode(String tier, String size, int storageClass) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("datanode", "-t", tier));
    if (storageClass >= 0) {
      arguments.addAll(List.of("-c", String.valueOf(storageClass)));
    }
    arguments.addAll(List.of("--", "-d", dataPath.toString(), "-s", size, "-p"));
    datanodeArguments.add(arguments);
    datanodes.add(datanode(datanodes.size(), 0));
  }

  private CrailProcess datanode(int index, int port) throws IOException {
    List<String> all = new ArrayList<>(datanodeArguments.get(index));
    all.addAll(1, places.options.apply(Role.DATANODE));
    all.add(String.valueOf(port));
    return CrailProcess.crail(
        places.through.apply(Role.DATANODE, index), directory, all.toArray(new String[0]));
  }

  /** Starts a datanode that was killed again, at the same address, and waits for nothing. */
  void startDatanodeAgain(int index) throws IOException {
    datanodes.set(index, datanode(index, datanodeAddresses.get(index).getPort()));
  }

  private void awaitDatanode(int index) throws Exception {
    Matcher line =
        datanodes.get(index).await("^datanode (\\S+) serves (.+) on (\\S+), registered$", PATIENCE);
    datanodeAddresses.add(ConfigType.parseAddress(line.group(3)));
  }

  /** Kills a namenode and starts it again at the same address. */
  void restartNamenode(int index) throws Exception {
    namenodes.get(index).kill();
    startNamenodeAgain(index);
    awaitNamenode(index);
  }

  /** Starts a namenode that was killed again, at the same address, and waits for nothing. */
  void startNamenodeAgain(int index) throws IOException {
    namenodes.set(index, namenode(index, namenodeAddresses.get(index).getPort()));
  }

  /** Runs a command of {@code crail} to its end. */
  CrailProcess run(String... arguments) throws Exception {
    CrailProcess process = crail(arguments);
    process.awaitExit(PATIENCE.plusSeconds(30));
    return process;
  }

  /** Starts a command of {@code crail}. */
  CrailProcess crail(String... arguments) throws IOException {
    return CrailProcess.crail(directory, arguments);
  }

  /** The directory with the configuration file. */
  Path directory() {
    return directory;
  }

  /** The directory in which datanodes make theirs. */
  Path dataPath() {
    return dataPath;
  }

  CrailProcess namenode(int index) {
    return namenodes.get(index);
  }

  CrailProcess datanode(int index) {
    return datanodes.get(index);
  }

  InetSocketAddress namenodeAddress(int index) {
    return resolved(namenodeAddresses.get(index));
  }

  InetSocketAddress datanodeAddress(int index) {
    return resolved(datanodeAddresses.get(index));
  }

  /** What the first namenode reports of a datanode, unless it does not know it any more. */
  Optional<ReportDatanodes.Datanode> reported(CrailStore store, int index) throws Exception {
    int port = datanodeAddress(index).getPort();
    return ((CoreStore) store)
            .connections()
            .namenodes()
            .callAt(0, NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(-1))
            .join()
            .datanodes()
            .stream()
            .filter(each -> each.port() == port)
            .findFirst();
  }

  /** The peer of the first namenode that serves, of several. */
  int leader(CrailStore store) throws Exception {
    return ((CoreStore) store)
        .connections()
        .namenodes()
        .callAt(0, NameNodeOperations.LEAD, new Lead.Request(Lead.NONE))
        .join()
        .peer();
  }

  private static InetSocketAddress resolved(InetSocketAddress address) {
    return new InetSocketAddress(address.getHostString(), address.getPort());
  }

  /** The configuration for clients in this JVM. */
  Configuration configuration(String... more) throws IOException {
    Configuration.Builder builder =
        Configuration.builder().load(directory.resolve("crail-site.conf"), name -> null);
    for (int i = 0; i < more.length; i += 2) {
      builder.set(more[i], more[i + 1], "the test");
    }
    return builder.build();
  }

  /** Names that are left in the directory of the datanodes. */
  List<String> leftovers() throws IOException {
    try (Stream<Path> files = Files.list(dataPath)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  /** Ends all processes with SIGTERM, and removes what killed ones have left. */
  @Override
  public void close() throws Exception {
    List<CrailProcess> all = new ArrayList<>(datanodes);
    all.addAll(namenodes);
    all.forEach(CrailProcess::terminate);
    AssertionError failure = null;
    for (CrailProcess process : all) {
      try {
        process.close();
      } catch (AssertionError e) {
        failure = e;
      }
    }
    delete(dataPath);
    delete(directory);
    if (failure != null) {
      throw failure;
    }
  }

  /** Deletes a directory with all that is in it. */
  static void delete(Path top) throws IOException {
    try (Stream<Path> files = Files.walk(top)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
