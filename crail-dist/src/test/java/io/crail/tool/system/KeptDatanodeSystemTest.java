/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailNode;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clusters whose datanodes keep their bytes, in processes that end and start again. */
@Tag("once")
@Timeout(600)
class KeptDatanodeSystemTest {
  private static final Duration PATIENCE = ProcessCluster.PATIENCE;
  private static final String REGISTERED = "^datanode (\\S+) serves (.+) on (\\S+), registered$";

  /** Short, since sockets are in directories below it. */
  private static final Path DISK = Path.of("/var/tmp");

  private static final int FILES = 12;
  private static final int LONGEST = 5 << 20;

  @TempDir private Path logs;
  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<String, byte[]> expected = new LinkedHashMap<>();
  private int written;

  private Map<String, String> settings(String... more) {
    System.out.println("crail.seed=" + seed);
    Map<String, String> settings = new HashMap<>();
    settings.put("crail.storage.keep", "true");
    settings.put("crail.namenode.durability", "sync");
    settings.put("crail.namenode.datapath", logs.toString());
    settings.put("crail.client.namenodepatience", "60s");
    settings.put("crail.lease", "3s");
    settings.put("crail.namenode.freemargin", "1s");
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  private static CrailStore open(ProcessCluster cluster) throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static void write(CrailStore store, String path, byte[] bytes) throws Exception {
    try (CrailBufferedOutputStream out =
        DataFiles.create(store, path).getBufferedOutputStream(bytes.length)) {
      out.write(bytes);
    }
  }

  private static byte[] read(CrailStore store, String path) throws Exception {
    CrailNode node = store.lookup(path).get(60, TimeUnit.SECONDS);
    int length = (int) node.asFile().getCapacity();
    try (CrailBufferedInputStream in = node.asFile().getBufferedInputStream(length)) {
      return in.readNBytes(length);
    }
  }

  private static byte[] random(Random random, int most) {
    byte[] bytes = new byte[1 + random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  private void writeMore(CrailStore store) throws Exception {
    for (int i = 0; i < FILES; i++) {
      String path = "/f" + written++;
      byte[] bytes = random(random, i % 3 == 0 ? LONGEST : 9000);
      write(store, path, bytes);
      expected.put(path, bytes);
    }
  }

  private void checkAll(CrailStore store) throws Exception {
    for (Map.Entry<String, byte[]> each : expected.entrySet()) {
      assertArrayEquals(each.getValue(), read(store, each.getKey()), each.getKey());
    }
  }

  private static void end(CrailProcess process, boolean orderly) throws Exception {
    if (orderly) {
      process.terminate();
      process.awaitExit(PATIENCE);
    } else {
      process.kill();
    }
  }

  private static void restartDatanode(ProcessCluster cluster, int index, boolean orderly)
      throws Exception {
    end(cluster.datanode(index), orderly);
    cluster.startDatanodeAgain(index);
    cluster.datanode(index).await(REGISTERED, PATIENCE);
  }

  /** Over the network and in mapped memory, in memory and in files of a disk. */
  @ParameterizedTest
  @CsvSource({"true,true,true", "true,false,false", "false,true,false", "false,false,true"})
  void aWholeClusterStopsAndStartsWithItsData(boolean orderly, boolean inMemory, boolean mapped)
      throws Exception {
    ProcessCluster.Places places =
        new ProcessCluster.Places(
            index -> "127.0.0.1", (role, index) -> List.of(), inMemory ? null : DISK);
    try (ProcessCluster cluster =
        ProcessCluster.start(
            places, 1, 2, settings("crail.storage.localmap", String.valueOf(mapped)))) {
      for (int round = 0; round < 2; round++) {
        try (CrailStore store = open(cluster)) {
          writeMore(store);
          checkAll(store);
        }
        for (int i = 0; i < 2; i++) {
          end(cluster.datanode(i), orderly);
        }
        end(cluster.namenode(0), orderly);
        cluster.startNamenodeAgain(0);
        cluster.startDatanodeAgain(1);
        cluster.startDatanodeAgain(0);
        cluster.awaitNamenode(0);
        for (int i = 0; i < 2; i++) {
          cluster.datanode(i).await(REGISTERED, PATIENCE);
        }
        try (CrailStore store = open(cluster)) {
          checkAll(store);
          store.delete("/f" + round, false).get(60, TimeUnit.SECONDS);
          expected.remove("/f" + round);
        }
      }
      assertEquals(2, cluster.leftovers().size(), "each datanode has one directory");
    }
  }

  /** No operation fails, and no byte is wrong, while one datanode after the other restarts. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void datanodesRestartOneAfterTheOtherUnderLoad(boolean mapped) throws Exception {
    try (ProcessCluster cluster =
        ProcessCluster.start(1, 2, settings("crail.storage.localmap", String.valueOf(mapped)))) {
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger done = new AtomicInteger();
      ExecutorService threads = Executors.newFixedThreadPool(3);
      try (CrailStore store = open(cluster)) {
        writeMore(store);
        List<Future<?>> users = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          int user = i;
          users.add(
              threads.submit(
                  () -> {
                    use(store, user, stop, done);
                    return null;
                  }));
        }
        for (int round = 0; round < 4; round++) {
          int before = done.get();
          restartDatanode(cluster, round % 2, round < 2);
          Await.until("users go on", PATIENCE, () -> done.get() > before + 10);
        }
        stop.set(true);
        for (Future<?> user : users) {
          user.get(120, TimeUnit.SECONDS);
        }
        checkAll(store);
      } finally {
        stop.set(true);
        threads.shutdown();
        assertTrue(threads.awaitTermination(120, TimeUnit.SECONDS));
      }
    }
  }

  /** Writes files, appends to one, reads all, and deletes them. */
  private void use(CrailStore store, int user, AtomicBoolean stop, AtomicInteger done)
      throws Exception {
    Random own = new Random(seed + user);
    byte[] all = new byte[8 << 20];
    own.nextBytes(all);
    for (int file = 0; !stop.get(); file++) {
      String path = "/user-" + user + "-" + file;
      int length = 0;
      try (CrailBufferedOutputStream out =
          DataFiles.create(store, path).getBufferedOutputStream(0)) {
        for (int i = 0; i < 5; i++) {
          int more = 1 + own.nextInt(i % 2 == 0 ? 3000 : 1 << 20);
          out.write(all, length, more);
          out.flush();
          length += more;
        }
      }
      byte[] read = read(store, path);
      assertEquals(length, read.length, path);
      assertArrayEquals(Arrays.copyOf(all, length), read, path);
      for (String shared : expected.keySet()) {
        assertArrayEquals(expected.get(shared), read(store, shared), shared);
        if (stop.get()) {
          break;
        }
      }
      store.delete(path, false).get(60, TimeUnit.SECONDS);
      done.incrementAndGet();
    }
  }

  /** The command does not take the end of the process for that of the drain. */
  @Test
  void aDrainGoesOnWhenTheDatanodeStartsAgain() throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (ProcessCluster cluster = ProcessCluster.start(1, 2, settings());
        CrailStore store = open(cluster)) {
      writeMore(store);
      String address = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
      Future<Ran> drain =
          thread.submit(() -> Ran.run(cluster.directory(), "drain", "--bandwidth", "1m", address));
      Await.until("it drains", PATIENCE, () -> cluster.reported(store, 0).orElseThrow().draining());
      CrailProcess before = cluster.datanode(0);
      restartDatanode(cluster, 0, false);
      assertNotEquals(before, cluster.datanode(0));
      assertEquals(0, drain.get(400, TimeUnit.SECONDS).code());
      cluster.datanode(0).awaitExit(PATIENCE);
      checkAll(store);
      assertEquals(1, cluster.leftovers().size());
    } finally {
      thread.shutdownNow();
      assertTrue(thread.awaitTermination(120, TimeUnit.SECONDS));
    }
  }

  @Test
  void aDatanodeWhoseDirectoryWasEmptiedIsAnEmptyOne() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings());
        CrailStore store = open(cluster)) {
      writeMore(store);
      cluster.datanode(0).kill();
      try (Stream<Path> places = Files.list(cluster.dataPath())) {
        for (Path place : places.toList()) {
          ProcessCluster.delete(place);
        }
      }
      cluster.startDatanodeAgain(0);
      cluster.datanode(0).await(REGISTERED, PATIENCE);
      for (String path : expected.keySet()) {
        Exception e = assertThrows(Exception.class, () -> read(store, path));
        Throwable cause = e;
        while (!(cause instanceof CrailException)) {
          cause = cause.getCause();
        }
        assertEquals(ErrorCode.DATA_LOST, ((CrailException) cause).code(), path);
      }
      String report = cluster.run("fsck").stdout();
      for (String path : expected.keySet()) {
        assertTrue(report.contains(path), path + " is not in " + report);
      }
      byte[] bytes = random(random, LONGEST);
      write(store, "/new", bytes);
      assertArrayEquals(bytes, read(store, "/new"));
    }
  }
}
