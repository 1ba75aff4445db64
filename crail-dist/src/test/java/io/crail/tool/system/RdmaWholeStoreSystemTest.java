/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the whole store over RDMA: the metadata of two namenodes with messages, and the data in an
 * RDMA datanode, which is accessed without its processor, and in a TCP datanode.
 */
@Tag("rdma")
@Tag("repeat")
class RdmaWholeStoreSystemTest extends WholeStoreContract {
  @TempDir private Path source;

  @Override
  ProcessCluster newCluster() throws Exception {
    ProcessCluster started = RdmaCluster.start(2);
    boolean complete = false;
    try {
      started.startDatanode("rdma", "64m", -1);
      started.startDatanode("tcp", "64m", -1);
      complete = true;
      return started;
    } finally {
      if (!complete) {
        started.close();
      }
    }
  }

  /** Every type of load, as a user would run it. */
  @TestFactory
  Stream<DynamicTest> iobench() {
    return IobenchLoads.ALL.stream()
        .map(load -> DynamicTest.dynamicTest(load.toString(), () -> run(load)));
  }

  private void run(IobenchLoads.Load load) throws Exception {
    String line = "iobench --set crail.storage.localmap=false -t " + load;
    CrailProcess bench = cluster().run(line.split(" "));
    assertEquals(0, bench.awaitExit(ProcessCluster.PATIENCE), bench.stdout() + bench.stderr());
    assertTrue(bench.stdout().contains(load.expected()), bench.stdout());
  }

  /**
   * What one file system has loaded, another one reads, though the source has no bytes any more.
   */
  @Test
  void aCacheIsReadOverRdma() throws Exception {
    byte[] bytes = new byte[(3 << 20) + 5];
    new Random(2).nextBytes(bytes);
    Path file = Files.write(source.resolve("file"), bytes);
    FileTime old = FileTime.from(Instant.EPOCH.plusSeconds(1));
    Files.setLastModifiedTime(file, old);
    Configuration hadoop = new Configuration();
    hadoop.set("fs.crail.site.file", cluster().directory() + "/crail-site.conf");
    hadoop.set("crail.storage.localmap", "false");
    hadoop.set("crail.cache.source.rdma", source.toUri().toString());
    hadoop.set("crail.cache.statusage", "60m");
    hadoop.set("crail.cache.timeout", "60s");
    URI cache = URI.create("crailcache://rdma/");
    try {
      try (FileSystem first = FileSystem.newInstance(cache, hadoop)) {
        readCached(first, bytes);
        // Its end waits for what is put.
      }
      Files.write(file, new byte[bytes.length]);
      Files.setLastModifiedTime(file, old);
      try (FileSystem second = FileSystem.newInstance(cache, hadoop)) {
        second.getStorageStatistics().reset();
        readCached(second, bytes);
        assertEquals(bytes.length, second.getStorageStatistics().getLong("hit_bytes"));
        assertEquals(0, second.getStorageStatistics().getLong("source_bytes"));
      }
    } finally {
      // Other tests count what is in the cluster.
      try (CrailStore store =
          CrailStore.newInstance(CrailConfiguration.of(cluster().configuration()))) {
        if (store.lookup("/cache").get(60, TimeUnit.SECONDS) != null) {
          store.delete("/cache", true).get(60, TimeUnit.SECONDS);
        }
      }
    }
  }

  private static void readCached(FileSystem files, byte[] expected) throws Exception {
    try (FSDataInputStream in = files.open(new org.apache.hadoop.fs.Path("/file"))) {
      assertArrayEquals(expected, in.readAllBytes());
    }
  }

  /** Programs that speak the connection manager's language and not ours do no harm. */
  @Test
  void foreignConnections() throws Exception {
    byte[] bytes = new byte[100_000];
    new Random(1).nextBytes(bytes);
    CrailConfiguration values =
        CrailConfiguration.of(cluster().configuration("crail.storage.localmap", "false"));
    try (CrailStore lasting = CrailStore.newInstance(values)) {
      CrailFile file =
          lasting
              .create(
                  "/foreign.dat",
                  CrailNodeType.DATAFILE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get()
              .asFile();
      try (CrailBufferedOutputStream out = file.getBufferedOutputStream(bytes.length)) {
        out.write(bytes);
      }
      read(lasting, bytes);
      final Map<String, Long> before = RdmaCluster.settled();
      for (InetSocketAddress server :
          List.of(cluster().namenodeAddress(0), cluster().datanodeAddress(0))) {
        String port = String.valueOf(server.getPort());
        // It ends with 0 whatever it makes of it.
        run("rping", "-c", "-a", RdmaCluster.HOST, "-p", port, "-C", "1");
        for (String test : List.of("ib_send_lat", "ib_read_lat", "ib_write_bw")) {
          String[] command = {
            test,
            "-R",
            "-d",
            RdmaCluster.CLIENT_DEVICE,
            "-x",
            "1",
            "-F",
            "-p",
            port,
            RdmaCluster.HOST
          };
          int status = run(command);
          // Some of them wait for their like until they are killed.
          assertTrue(status != 0, () -> test + " has worked");
          read(lasting, bytes);
        }
      }
      RdmaCluster.awaitResources("strangers leave nothing", before, RdmaCluster.MOST_KEPT);
      try (CrailStore later = CrailStore.newInstance(values)) {
        read(later, bytes);
      }
      RdmaCluster.awaitResources("nor do friends", before, RdmaCluster.MOST_KEPT);
      lasting.delete("/foreign.dat", false).get();
    }
  }

  /** Runs a program for 10 seconds at most; gives its status. */
  private static int run(String... command) throws Exception {
    List<String> limited = new ArrayList<>(List.of("timeout", "-s", "KILL", "10"));
    limited.addAll(List.of(command));
    long begin = System.nanoTime();
    Process foreign =
        new ProcessBuilder(limited)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .start();
    int status = foreign.waitFor();
    System.out.printf(
        "%s ended with %d after %d ms%n",
        String.join(" ", command), status, (System.nanoTime() - begin) / 1_000_000);
    return status;
  }

  private static void read(CrailStore store, byte[] expected) throws Exception {
    CrailFile file = store.lookup("/foreign.dat").get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      assertArrayEquals(expected, in.readAllBytes());
    }
  }
}
