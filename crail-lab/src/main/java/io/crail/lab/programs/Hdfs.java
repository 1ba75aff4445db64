/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** HDFS with one datanode, as Hadoop starts it for its own tests, in its own process. */
public final class Hdfs {
  private static final long START_NANOS = 90_000_000_000L;
  private static final int POLL_MILLIS = 200;

  /** One datanode has one copy of each block. So has Crail. */
  public static final String SETTING = "dfs.replication=1";

  private final String root;
  private final Process process;

  private Hdfs(String root, Process process) {
    this.root = root;
    this.process = process;
  }

  /**
   * Starts HDFS and waits until it serves.
   *
   * @param jars directory of all jars that it needs
   * @param data directory for its blocks
   */
  public static Hdfs start(Programs programs, Path jars, Path data)
      throws IOException, InterruptedException {
    int port = LabCluster.freePort();
    Path ready = data.resolve("hdfs-is-ready");
    Files.deleteIfExists(ready);
    long begin = System.nanoTime();
    Process process =
        programs.start(
            "hdfs",
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dtest.build.data=" + data.resolve("hdfs"),
                "-Djava.io.tmpdir=" + data,
                "-cp",
                jars + "/*",
                "org.apache.hadoop.test.MiniDFSClusterManager",
                "-nnport",
                String.valueOf(port),
                "-datanodes",
                "1",
                "-format",
                "-writeDetails",
                ready.toString()));
    long deadline = begin + START_NANOS;
    // This file is written when all servers are up.
    while (!Files.exists(ready)) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        throw new IOException("HDFS does not start: " + programs.log("hdfs"));
      }
      Thread.sleep(POLL_MILLIS);
    }
    programs.account().since(begin, "start of HDFS");
    return new Hdfs("hdfs://127.0.0.1:" + port, process);
  }

  /** Its process. */
  public Process process() {
    return process;
  }

  /** The URI of a path. */
  public String uri(String path) {
    return root + path;
  }
}
