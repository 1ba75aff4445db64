/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Lead;
import io.crail.spark.Broadcasts;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Namenodes and datanodes, each a process of its own. Each datanode has an address of its own, as
 * if it were on another host.
 */
final class CrailServers implements AutoCloseable {
  private static final String HOME = System.getProperty("crail.home");

  /** Of a location, and of a file that is written. */
  static final int LEASE_SECONDS = 6;

  /**
   * Patience for a busy machine, and what makes the loss of a datanode or writer known sooner: a
   * datanode is offline after 4 s. All else is as users have it.
   */
  private static final String SETTINGS =
      """
      crail.rpctimeout 60s
      crail.datatimeout 60s
      crail.lease %ds
      crail.storage.keepalive 500ms
      """
          .formatted(LEASE_SECONDS);

  /** A container often has 64 MiB in memory. */
  private static final long ENOUGH_BYTES = 1L << 30;

  private final Path directory = Files.createTempDirectory("crail-spark-test");
  private final Path data;
  private final int peers;
  private final String size;
  private final String settings;
  private final List<ChildProcess> namenodes = new ArrayList<>();
  private final List<ChildProcess> datanodes = new ArrayList<>();
  private final List<String> addresses = new ArrayList<>();
  private int processes;

  private CrailServers(int peers, String size, String settings) throws IOException {
    this.peers = peers;
    this.size = size;
    this.settings = settings;
    Path memory = Path.of("/dev/shm");
    boolean isRoomy = Files.isWritable(memory) && memory.toFile().getUsableSpace() >= ENOUGH_BYTES;
    data = Files.createTempDirectory(isRoomy ? memory : directory, "crail-spark-test");
  }

  /** Starts servers; each datanode lends so much. */
  static CrailServers start(int namenodes, int datanodes, String size) throws Exception {
    return start(new CrailServers(1, size, SETTINGS), namenodes, datanodes);
  }

  /** As {@link #start(int, int, String)}, with no setting that users do not have. */
  static CrailServers startAsUsual(int namenodes, int datanodes, String size) throws Exception {
    return start(new CrailServers(1, size, ""), namenodes, datanodes);
  }

  /**
   * Starts one namenode that loses nothing when it is killed, with so many peers, which all count
   * as namenodes here; all else as {@link #startAsUsual}, and patience for a busy machine.
   */
  static CrailServers startDurable(int peers, int datanodes, String size) throws Exception {
    String settings = "crail.rpctimeout 60s\ncrail.lease 60s\ncrail.namenode.durability sync\n";
    return start(new CrailServers(peers, size, settings), peers, datanodes);
  }

  private static CrailServers start(CrailServers servers, int namenodes, int datanodes)
      throws Exception {
    boolean started = false;
    try {
      servers.startNamenodes(namenodes);
      for (int i = 0; i < datanodes; i++) {
        servers.launchDatanode();
      }
      for (int i = 0; i < datanodes; i++) {
        servers.awaitDatanode(i);
      }
      started = true;
      return servers;
    } finally {
      if (!started) {
        servers.close();
      }
    }
  }

  private void startNamenodes(int count) throws Exception {
    Assumptions.assumeTrue(HOME != null, "the servers are those of -Dcrail.home=");
    if (peers > 1) {
      startPeers();
      return;
    }
    String anywhere = "crail://127.0.0.1:0";
    writeSite(anywhere + ("," + anywhere).repeat(count - 1));
    for (int i = 0; i < count; i++) {
      namenodes.add(namenode(i, "0"));
    }
    for (int i = 0; i < count; i++) {
      addresses.add("crail://127.0.0.1:" + awaitNamenode(i));
    }
    writeSite(addresses());
  }

  /** They have to know each other's addresses from the beginning. */
  private void startPeers() throws Exception {
    List<Integer> ports = freePorts(peers);
    ports.forEach(port -> addresses.add("crail://127.0.0.1:" + port));
    writeSite(addresses());
    for (int i = 0; i < peers; i++) {
      namenodes.add(namenode(i, String.valueOf(ports.get(i))));
    }
    for (int i = 0; i < peers; i++) {
      awaitNamenode(i);
    }
  }

  /** Ports that are free now, for clients, and for the peers a thousand above. */
  private static List<Integer> freePorts(int count) throws IOException {
    List<Integer> free = new ArrayList<>();
    while (free.size() < count) {
      try (ServerSocket one = new ServerSocket(0);
          ServerSocket other = new ServerSocket(one.getLocalPort() + 1_000)) {
        if (!free.contains(one.getLocalPort())) {
          free.add(other.getLocalPort() - 1_000);
        }
      } catch (IOException | IllegalArgumentException e) {
        // Others use it.
      }
    }
    return free;
  }

  private void writeSite(String namenodeAddresses) throws IOException {
    Files.writeString(
        directory.resolve("crail-site.conf"),
        settings + "crail.namenode.address " + namenodeAddresses + "\n");
  }

  private ChildProcess namenode(int index, String port) throws IOException {
    String log = "crail.namenode.datapath=" + directory.resolve("log-" + index);
    String place = String.valueOf(peers == 1 ? index : 0);
    return crail("namenode", "-i", place, "-p", port, "--set", log);
  }

  private String awaitNamenode(int index) throws Exception {
    String line =
        peers == 1
            ? "namenode " + index + " of \\d+ serves on \\S+:(\\d+)"
            : "peer " + index + " of namenode 0 takes part on \\S+:(\\d+)";
    return namenodes.get(index).await(line).group(1);
  }

  private void launchDatanode() throws IOException {
    datanodes.add(
        crail(
            "datanode",
            "-t",
            "tcp",
            "--set",
            "crail.storage.tcp.interface=" + host(datanodes.size()),
            "--",
            "-p",
            "0",
            "-d",
            data.toString(),
            "-s",
            size));
  }

  private void awaitDatanode(int index) throws Exception {
    datanodes.get(index).await("datanode \\S+ serves .+ on \\S+, registered");
  }

  /** Starts a command of {@code crail}. */
  ChildProcess crail(String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(HOME + "/bin/crail"));
    command.addAll(List.of(arguments));
    Map<String, String> environment =
        Map.of(
            "JAVA_HOME", System.getProperty("java.home"),
            "CRAIL_CONF_DIR", directory.toString(),
            "CRAIL_EXTRA_JAVA_OPTIONS",
                Boolean.getBoolean("crail.test.long")
                    ? ""
                    : System.getProperty("crail.test.quickstart", "-XX:TieredStopAtLevel=1"));
    return ChildProcess.start(
        directory.resolve(arguments[0] + "-" + processes++ + ".log"), environment, command);
  }

  /** {@return the address of a datanode} */
  static String host(int datanode) {
    return "127.0.0." + (datanode + 1);
  }

  /** Starts one more datanode and gives its index. */
  int startDatanode() throws Exception {
    launchDatanode();
    awaitDatanode(datanodes.size() - 1);
    return datanodes.size() - 1;
  }

  /** SIGKILL. */
  void killDatanode(int index) throws InterruptedException {
    datanodes.get(index).kill();
  }

  /** SIGKILL. */
  void killNamenode(int index) throws InterruptedException {
    namenodes.get(index).kill();
  }

  /** The peer that serves. */
  int leader() throws Exception {
    try (CrailStore store = store()) {
      return ((CoreStore) store)
          .connections()
          .namenodes()
          .callAt(0, NameNodeOperations.LEAD, new Lead.Request(Lead.NONE))
          .join()
          .peer();
    }
  }

  /** Starts a namenode at the address of one that was killed; it is empty unless it is durable. */
  void startNamenode(int index) throws Exception {
    launchNamenode(index);
    awaitNamenode(index);
  }

  /** As {@link #startNamenode}, and waits for nothing. */
  void launchNamenode(int index) throws IOException {
    String address = addresses.get(index);
    namenodes.set(index, namenode(index, address.substring(address.lastIndexOf(':') + 1)));
  }

  /** Kills a namenode, starts an empty one at its address, and waits for the datanodes. */
  void restartNamenode(int index) throws Exception {
    killNamenode(index);
    startNamenode(index);
    Eventually.holds(
        "the datanodes are back",
        () -> df().contains(" " + datanodes.size() + " of " + datanodes.size() + " datanodes"));
  }

  /** {@return the addresses of the namenodes, as the configuration has them} */
  String addresses() {
    return String.join(peers == 1 ? "," : "|", addresses);
  }

  /** {@return the directory of the datanodes' memory} */
  Path data() {
    return data;
  }

  /** {@return a client} */
  CrailStore store() throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            Configuration.builder()
                .load(directory.resolve("crail-site.conf"), name -> null)
                .build()));
  }

  /** {@return the bytes in use, at all datanodes} */
  long usedBytes() throws Exception {
    long used = 0;
    for (String line : df().lines().toList()) {
      String[] words = line.strip().split("\\s+");
      used += words.length == 6 && words[0].matches("\\d+") ? Long.parseLong(words[2]) : 0;
    }
    return used;
  }

  private String df() throws Exception {
    try (ChildProcess df = crail("df", "--bytes")) {
      df.awaitExit();
      return df.output();
    }
  }

  /** Fails unless nothing is stored, or soon nothing is. */
  void assertEmpty() throws Exception {
    try (CrailStore store = store()) {
      assertEquals(List.of(), Broadcasts.children(store, "/"), "what applications left");
    }
    Eventually.holds("all space is free", () -> usedBytes() == 0);
  }

  @Override
  public void close() throws Exception {
    List<ChildProcess> all = new ArrayList<>(datanodes);
    all.addAll(namenodes);
    all.forEach(ChildProcess::terminate);
    for (ChildProcess process : all) {
      process.close();
    }
    delete(data);
    delete(directory);
  }

  private static void delete(Path top) throws IOException {
    try (Stream<Path> files = Files.walk(top)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
