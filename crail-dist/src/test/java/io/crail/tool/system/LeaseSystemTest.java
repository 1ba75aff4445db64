/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests a writer that is stopped for longer than its lease and then continues, or is killed. */
@Tag("once")
class LeaseSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int MIB = 1 << 20;
  private static final int COMMITTED = MIB + 1000;

  /** In the same extent, so that the last write begins in space that the next writer could get. */
  private static final int UNCOMMITTED = 1000;

  private static final int LAST = 20 * MIB;
  private static final String PATH = "/stopped";

  /** What the datanode lends: too little for two times {@link #LAST}. */
  private static final int SPACE = 32 * MIB;

  private final byte[] appended = new byte[LAST];

  LeaseSystemTest() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    new Random(seed).nextBytes(appended);
  }

  /** Short times in the order that they need: a datanode waits for data less than space rests. */
  private static Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "5s");
    settings.put("crail.namenode.freemargin", "4s");
    settings.put("crail.storage.tcp.writetimeout", "3s");
    return settings;
  }

  private static ProcessCluster startCluster() throws Exception {
    ProcessCluster cluster = ProcessCluster.start(1, 0, settings());
    cluster.startDatanode(String.valueOf(SPACE), -1);
    return cluster;
  }

  private static CrailProcess startWriter(ProcessCluster cluster, boolean mapped, Path signal)
      throws Exception {
    CrailProcess writer =
        CrailProcess.program(
            AppenderProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            String.valueOf(mapped),
            PATH,
            String.valueOf(COMMITTED),
            String.valueOf(UNCOMMITTED),
            String.valueOf(LAST),
            signal.toString());
    writer.await("^written$", PATIENCE);
    return writer;
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped) throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration("crail.storage.localmap", String.valueOf(mapped))));
  }

  private static CrailFile lookup(CrailStore store) throws Exception {
    return store.lookup(PATH).get(60, TimeUnit.SECONDS).asFile();
  }

  /** Waits until the lease has ended and its space is free, then appends as a second writer. */
  private void takeOver(ProcessCluster cluster, boolean mapped) throws Exception {
    CrailStore store = open(cluster, mapped);
    try {
      CrailFile file = lookup(store);
      Await.until(
          "the space after the committed size is free",
          PATIENCE,
          () -> {
            // Capacity, used, free and waiting bytes of class 0.
            String[] words =
                cluster.run("df", "--bytes").stdout().lines().toList().get(1).strip().split("\\s+");
            return Long.parseLong(words[2]) <= 3 * MIB && Long.parseLong(words[4]) == 0;
          });
      try (CrailBufferedOutputStream out = DataFiles.append(file, LAST, PATIENCE)) {
        out.write(appended);
      }
    } finally {
      store.close();
    }
  }

  private static void assertLost(CrailProcess writer, String what) throws Exception {
    String outcome = writer.await("^" + what + " ended: (.*)$", PATIENCE).group(1);
    assertTrue(outcome.startsWith("WRITE_LEASE_LOST " + PATH), what + ": " + outcome);
  }

  /** The first writer's committed bytes, and after them the second one's, for every reader. */
  private void assertIntact(ProcessCluster cluster) throws Exception {
    for (boolean mapped : new boolean[] {false, true}) {
      CrailStore store = open(cluster, mapped);
      try {
        CrailFile file = lookup(store);
        assertEquals(COMMITTED + LAST, file.getCapacity());
        byte[] bytes;
        try (CrailBufferedInputStream in = file.getBufferedInputStream(COMMITTED + LAST)) {
          bytes = in.readAllBytes();
        }
        byte[] committed = new byte[COMMITTED];
        Arrays.fill(committed, AppenderProgram.COMMITTED);
        assertArrayEquals(committed, Arrays.copyOf(bytes, COMMITTED));
        assertArrayEquals(appended, Arrays.copyOfRange(bytes, COMMITTED, bytes.length));
      } finally {
        store.close();
      }
    }
  }

  private void writesOnAfterItsLease(boolean mapped) throws Exception {
    try (ProcessCluster cluster = startCluster()) {
      Path signal = cluster.directory().resolve("go-on");
      try (CrailProcess writer = startWriter(cluster, mapped, signal)) {
        writer.signal("STOP");
        try {
          takeOver(cluster, mapped);
          Files.createFile(signal);
        } finally {
          writer.signal("CONT");
        }
        assertLost(writer, "write");
        assertLost(writer, "sync");
        assertLost(writer, "close");
        assertEquals(0, writer.awaitExit(PATIENCE));
      }
      assertIntact(cluster);
    }
  }

  @Test
  void writesOnAfterItsLeaseOverTcp() throws Exception {
    writesOnAfterItsLease(false);
  }

  @Test
  void writesOnAfterItsLeaseWhereItIsMapped() throws Exception {
    writesOnAfterItsLease(true);
  }

  @Test
  void isStoppedInTheMiddleOfAWrite() throws Exception {
    try (ProcessCluster cluster = startCluster()) {
      Path signal = cluster.directory().resolve("go-on");
      try (CrailProcess writer = startWriter(cluster, false, signal)) {
        CrailProcess datanode = cluster.datanode(0);
        datanode.signal("STOP");
        try {
          Files.createFile(signal);
          writer.await("^issued$", PATIENCE);
          Await.until(
              "bytes wait for the datanode",
              PATIENCE,
              () -> waitingBytes(cluster.datanodeAddress(0)) > 0);
          writer.signal("STOP");
        } finally {
          datanode.signal("CONT");
        }
        try {
          takeOver(cluster, false);
        } finally {
          writer.signal("CONT");
        }
        assertLost(writer, "write");
        assertLost(writer, "sync");
        assertLost(writer, "close");
        assertEquals(0, writer.awaitExit(PATIENCE));
      }
      assertIntact(cluster);
    }
  }

  /** Its bytes were on a datanode, and no list has linked them. */
  @Test
  void isKilledBetweenStagingAndLinking() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>(settings());
    settings.put("crail.lease", "2s");
    settings.put("crail.namenode.freemargin", "600ms");
    settings.put("crail.storage.tcp.writetimeout", "500ms");
    try (ProcessCluster cluster = ProcessCluster.start(1, 0, settings)) {
      cluster.startDatanode(String.valueOf(SPACE), -1);
      try (CrailStore store = open(cluster, true);
          CrailProcess stager =
              CrailProcess.program(
                  StagerProgram.class,
                  cluster.directory().resolve("crail-site.conf").toString(),
                  "/table",
                  "/table/key",
                  String.valueOf(LAST))) {
        stager.await("^staged$", PATIENCE);
        assertEquals(LAST, store.getSpace().usedBytes());
        stager.kill();
        Await.until(
            "all space is free again",
            PATIENCE,
            () -> store.getSpace().freeBytes() == store.getSpace().capacityBytes());
        assertNull(store.lookup("/table/key").get(60, TimeUnit.SECONDS));
        // Nothing is hidden in it either.
        store.delete("/table", false).get(60, TimeUnit.SECONDS);
      }
    }
  }

  /** Bytes that the kernel has received for connections to an address and that were not taken. */
  private static long waitingBytes(InetSocketAddress address) throws IOException {
    String port = String.format(":%04X", address.getPort());
    long bytes = 0;
    for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      if (Files.exists(Path.of(table))) {
        for (String line : Files.readAllLines(Path.of(table))) {
          String[] words = line.strip().split("\\s+");
          // Of a connection: local address, remote address, state, and both queues.
          if (words[1].endsWith(port) && words[3].equals("01")) {
            bytes += Long.parseLong(words[4].substring(words[4].indexOf(':') + 1), 16);
          }
        }
      }
    }
    return bytes;
  }
}
