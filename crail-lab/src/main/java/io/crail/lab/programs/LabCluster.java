/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import io.crail.storage.StorageKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Namenodes and datanodes in their own processes, and the commands of their clients. */
public final class LabCluster {
  /** An emulated machine takes minutes. */
  private static final long START_NANOS = 400_000_000_000L;

  private static final int POLL_MILLIS = 200;

  /** All bytes of a namespace. */
  public static final long ALL = 0;

  private final Programs programs;
  private final String crail;
  private final Setup setup;
  private final String addresses;
  private final int port;
  private final List<Process> namenodes = new ArrayList<>();
  private final List<Process> datanodes = new ArrayList<>();

  private LabCluster(Programs programs, String crail, Setup setup, List<Integer> ports) {
    this.programs = programs;
    this.crail = crail;
    this.setup = setup;
    this.addresses =
        String.join(",", ports.stream().map(each -> "crail://127.0.0.1:" + each).toList());
    this.port = ports.get(0);
  }

  /**
   * The setup of a cluster.
   *
   * @param namenodes the number of namenodes
   * @param settings options of all commands, of servers and clients
   * @param namenodeJvm options of the JVM of each namenode
   * @param datanodeJvm options of the JVM of each datanode
   * @param flash the target whose namespace the first datanode lends, as for {@code
   *     crail.storage.nvmf.targets}; empty when it lends memory over TCP
   * @param processors the processor of the servers, and that of the clients; empty for any
   */
  public record Setup(
      int namenodes,
      List<String> settings,
      String namenodeJvm,
      String datanodeJvm,
      String flash,
      List<String> processors) {
    /** One namenode, memory over TCP, and no settings. */
    public static final Setup PLAIN = new Setup(1, List.of(), "", "", "", List.of());

    /** The same setup with more options. */
    public Setup with(String... more) {
      List<String> all = new ArrayList<>(settings);
      all.addAll(List.of(more));
      return new Setup(namenodes, List.copyOf(all), namenodeJvm, datanodeJvm, flash, processors);
    }

    /** The same setup with options of the servers' JVMs. */
    public Setup withJvms(String namenode, String datanode) {
      return new Setup(namenodes, settings, namenode, datanode, flash, processors);
    }

    /** The same setup with another number of namenodes. */
    public Setup of(int count) {
      return new Setup(count, settings, namenodeJvm, datanodeJvm, flash, processors);
    }

    /** The same setup with another tier: flash at a target. */
    public Setup onFlash(String target) {
      Setup made =
          with(
              "--set",
              "crail.storage.types=nvmf",
              // So that the space of files that were replaced is there again soon.
              "--set",
              "crail.storage.nvmf.keepalive=10s",
              "--set",
              "crail.lease=10s");
      return new Setup(namenodes, made.settings, namenodeJvm, datanodeJvm, target, processors);
    }

    /** The same setup with one processor for all servers, and another for all clients. */
    public Setup pinned(int servers, int clients) {
      return new Setup(
          namenodes,
          settings,
          namenodeJvm,
          datanodeJvm,
          flash,
          List.of(String.valueOf(servers), String.valueOf(clients)));
    }

    private List<String> pin(int side) {
      return processors.isEmpty() ? List.of() : List.of("taskset", "-c", processors.get(side));
    }
  }

  /** Starts a cluster with one namenode and without settings. */
  public static LabCluster start(Programs programs, String crail, Path regions, long bytes)
      throws IOException, InterruptedException {
    return start(programs, crail, regions, bytes, Setup.PLAIN);
  }

  /**
   * Starts all servers and waits until a file can be written.
   *
   * @param crail the launcher
   * @param regions directory of the datanode's memory
   * @param bytes how many bytes the datanode lends; {@link #ALL} for a whole namespace
   */
  public static LabCluster start(
      Programs programs, String crail, Path regions, long bytes, Setup setup)
      throws IOException, InterruptedException {
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < setup.namenodes; i++) {
      ports.add(freePort());
    }
    LabCluster cluster = new LabCluster(programs, crail, setup, ports);
    for (int i = 0; i < setup.namenodes; i++) {
      cluster.namenodes.add(
          programs.start(
              "namenode-" + ports.get(i),
              cluster.server("namenode", "-i", String.valueOf(i)),
              environment(setup.namenodeJvm)));
    }
    cluster.startDatanode(setup.flash, regions, bytes);
    cluster.awaitReady();
    return cluster;
  }

  /**
   * Starts one more datanode, and waits until all namenodes know it.
   *
   * @param flash the target whose namespace it lends; empty for memory
   * @param regions directory of its memory
   * @param bytes how many bytes it lends
   */
  public void addDatanode(String flash, Path regions, long bytes)
      throws IOException, InterruptedException {
    startDatanode(flash, regions, bytes);
    int count = datanodes.size();
    await(
        () -> {
          String text = programs.run(crail("df"));
          if (!text.contains(count + " of " + count + " datanodes online")) {
            throw new IOException("not all " + count + " datanodes are there:\n" + text);
          }
        });
  }

  private void startDatanode(String flash, Path regions, long bytes) throws IOException {
    List<String> command =
        flash.isEmpty()
            ? server("datanode", "-t", "tcp", "--", "-p", "0", "-d", regions.toString())
            : server("datanode", "-t", "nvmf", "--", "-t", flash);
    if (bytes != ALL) {
      command.addAll(List.of("-s", String.valueOf(bytes)));
    }
    datanodes.add(programs.start(log(datanodes.size()), command, environment(setup.datanodeJvm)));
  }

  private String log(int datanode) {
    return "datanode-" + port + "-" + datanode;
  }

  private List<String> server(String command, String... arguments) {
    List<String> words = new ArrayList<>(setup.pin(0));
    words.addAll(command(command, arguments));
    return words;
  }

  private static Map<String, String> environment(String jvm) {
    return jvm.isEmpty() ? Map.of() : Map.of("JDK_JAVA_OPTIONS", jvm);
  }

  /** Ends the processes. */
  public void stop() throws InterruptedException {
    for (Process datanode : datanodes) {
      programs.stop(datanode);
    }
    for (Process namenode : namenodes) {
      programs.stop(namenode);
    }
  }

  /** The version that the launcher prints. */
  public static String version(Programs programs, String crail)
      throws IOException, InterruptedException {
    return programs.run(List.of(crail, "--version")).split("\n")[0].split(",")[0];
  }

  /** A port that is free now. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitReady() throws IOException, InterruptedException {
    List<String> write = iobench("-t write -s 4096 -k 1 -w 0 --touch false -f /ready.dat", true);
    await(() -> programs.run(write));
  }

  /** What fails until a cluster is ready. */
  @FunctionalInterface
  private interface Attempt {
    void make() throws IOException, InterruptedException;
  }

  /** Repeats an attempt until it succeeds. */
  private void await(Attempt attempt) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_NANOS;
    while (true) {
      try {
        attempt.make();
        return;
      } catch (IOException e) {
        int last = datanodes.size() - 1;
        if (!datanodes.get(last).isAlive()) {
          throw new IOException("the datanode has ended:\n" + programs.log(log(last)), e);
        }
        if (System.nanoTime() - deadline > 0 || programs.isClosed()) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  /** The processes of the namenodes. */
  public List<Process> namenodes() {
    return List.copyOf(namenodes);
  }

  /** The port of the first namenode. */
  public int port() {
    return port;
  }

  /** The process of the first datanode. */
  public Process datanode() {
    return datanodes.get(0);
  }

  /** The processes of all servers. */
  public List<Process> servers() {
    List<Process> servers = new ArrayList<>(namenodes);
    servers.addAll(datanodes);
    return servers;
  }

  /** The addresses of the namenodes, as the configuration has them. */
  public String addresses() {
    return addresses;
  }

  /** A command of the launcher against this cluster, for a client. */
  public List<String> crail(String command, String... arguments) {
    List<String> words = new ArrayList<>(setup.pin(1));
    words.addAll(command(command, arguments));
    return words;
  }

  private List<String> command(String command, String... arguments) {
    List<String> words =
        new ArrayList<>(List.of(crail, command, "--set", "crail.namenode.address=" + addresses));
    words.addAll(setup.settings);
    words.addAll(List.of(arguments));
    return words;
  }

  /** An iobench command; see {@link #bench}. */
  public List<String> iobench(String arguments, boolean mapped) {
    return bench("iobench", arguments, mapped);
  }

  /**
   * A command of a benchmark.
   *
   * @param mapped whether the client may map the datanode's memory
   */
  public List<String> bench(String name, String arguments, boolean mapped) {
    List<String> command = new ArrayList<>(crail(name));
    command.addAll(List.of("--set", StorageKeys.LOCAL_MAP.name() + "=" + mapped));
    command.addAll(List.of(arguments.split(" ")));
    return command;
  }

  /** The same as a user would write it. */
  public static String shown(String name, String arguments, boolean mapped) {
    return "crail "
        + name
        + " "
        + arguments
        + (mapped ? "" : " --set " + StorageKeys.LOCAL_MAP.name() + "=false");
  }
}
