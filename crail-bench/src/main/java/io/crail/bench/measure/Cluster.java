/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import io.crail.storage.StorageKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A namenode and a datanode as processes of their own, and the commands of their client. */
final class Cluster {
  private static final long START_NANOS = 30_000_000_000L;
  private static final int POLL_MILLIS = 200;

  private final Programs programs;
  private final String crail;
  private final String address;
  private long namenodeProcess;

  private Cluster(Programs programs, String crail, String address) {
    this.programs = programs;
    this.crail = crail;
    this.address = address;
  }

  /**
   * Starts both and waits until a file can be written.
   *
   * @param crail the launcher
   * @param regions directory of the datanode's memory
   * @param bytes how much it lends
   */
  static Cluster start(Programs programs, String crail, Path regions, long bytes)
      throws IOException, InterruptedException {
    int port = freePort();
    Cluster cluster = new Cluster(programs, crail, "crail://127.0.0.1:" + port);
    programs.start("namenode", cluster.crail("namenode"));
    cluster.namenodeProcess = programs.last().pid();
    List<String> datanode = new ArrayList<>(cluster.crail("datanode"));
    datanode.addAll(
        List.of(
            "-t", "tcp", "--", "-p", "0", "-d", regions.toString(), "-s", String.valueOf(bytes)));
    programs.start("datanode", datanode);
    cluster.awaitReady();
    return cluster;
  }

  /** What the launcher says that it is. */
  static String version(Programs programs, String crail) throws IOException, InterruptedException {
    return programs.run(List.of(crail, "--version")).split("\n")[0].split(",")[0];
  }

  /** A port that nobody has now. */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitReady() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_NANOS;
    while (true) {
      try {
        programs.run(iobench("-t write -s 4096 -k 1 -w 0 --touch false -f /ready.dat", true));
        return;
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  /** The process id of the namenode. */
  long namenodeProcess() {
    return namenodeProcess;
  }

  /** Where the namenodes are, as the configuration names it. */
  String addresses() {
    return address;
  }

  /** A command of the launcher against this cluster. */
  List<String> crail(String command) {
    return List.of(crail, command, "--set", "crail.namenode.address=" + address);
  }

  /** An iobench command; see {@link #bench}. */
  List<String> iobench(String arguments, boolean mapped) {
    return bench("iobench", arguments, mapped);
  }

  /**
   * A command of a benchmark.
   *
   * @param mapped whether the client may map the datanode's memory
   */
  List<String> bench(String name, String arguments, boolean mapped) {
    List<String> command = new ArrayList<>(crail(name));
    command.addAll(List.of("--set", StorageKeys.LOCAL_MAP.name() + "=" + mapped));
    command.addAll(List.of(arguments.split(" ")));
    return command;
  }

  /** The same as a user would write it. */
  static String shown(String name, String arguments, boolean mapped) {
    return "crail "
        + name
        + " "
        + arguments
        + (mapped ? "" : " --set " + StorageKeys.LOCAL_MAP.name() + "=false");
  }
}
