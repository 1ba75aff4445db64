/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.tool.Ran;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Drains a datanode while others read, write, append, put and delete, and lets a new one take its
 * share: no operation fails, and all bytes are what they were.
 */
@Tag("once")
class DrainSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int FILES = 12;
  private static final int MIB = 1 << 20;

  /** A file that one thread appends to and others read. */
  private static final class Grown {
    private final String path;
    private final int number;

    /** What readers can see. */
    private volatile int length;

    Grown(int number) {
      this.path = "/load/f" + number;
      this.number = number;
    }
  }

  private final List<Grown> files = new ArrayList<>();
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger operations = new AtomicInteger();

  private static byte at(int number, int position) {
    return (byte) (number * 31 + position * 7 + (position >>> 8) * 13 + (position >>> 16));
  }

  private static byte[] bytes(int number, int from, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = at(number, from + i);
    }
    return bytes;
  }

  private static void check(int number, byte[] found, String where) {
    for (int i = 0; i < found.length; i++) {
      if (found[i] != at(number, i)) {
        throw new AssertionError(where + ": byte " + i + " of " + found.length + " is wrong");
      }
    }
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped) throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration("crail.storage.localmap", String.valueOf(mapped))));
  }

  private static Ran ran(ProcessCluster cluster, String... arguments) {
    return Ran.run(cluster.directory(), arguments);
  }

  private static CrailFile create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    var node =
        store
            .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
            .get(60, TimeUnit.SECONDS);
    return type.isContainer() ? null : node.asFile();
  }

  private static CrailFile find(CrailStore store, String path) throws Exception {
    return store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
  }

  private void append(CrailStore store, Grown grown, int length) throws Exception {
    CrailFile file =
        grown.length == 0
            ? create(store, grown.path, CrailNodeType.DATAFILE)
            : find(store, grown.path);
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(length)) {
      out.write(bytes(grown.number, grown.length, length));
    }
    grown.length += length;
    operations.incrementAndGet();
  }

  /** Appends to its own part of the files, and writes and deletes others. */
  private Void write(CrailStore store, int writer, int writers) throws Exception {
    Random random = new Random(writer);
    for (int round = 0; !over.get(); round++) {
      Grown grown = files.get(random.nextInt(FILES / writers) * writers + writer);
      if (grown.length < 2 * MIB) {
        append(store, grown, 1 + random.nextInt(20_000));
      }
      String path = "/load/w" + writer + "-" + round;
      CrailFile file = create(store, path, CrailNodeType.DATAFILE);
      byte[] bytes = bytes(round, 0, 1 + random.nextInt(MIB));
      try (CrailBufferedOutputStream out = file.getBufferedOutputStream(0)) {
        out.write(bytes);
      }
      try (CrailBufferedInputStream in = find(store, path).getBufferedInputStream(bytes.length)) {
        check(round, in.readAllBytes(), path);
      }
      store.delete(path, false).get(60, TimeUnit.SECONDS);
      operations.addAndGet(3);
    }
    return null;
  }

  /** Reads files through handles that it keeps for long, and through new ones. */
  private Void read(CrailStore store, int reader) throws Exception {
    Random random = new Random(-1 - reader);
    Map<Grown, CrailFile> kept = new LinkedHashMap<>();
    while (!over.get()) {
      Grown grown = files.get(random.nextInt(FILES));
      int least = grown.length;
      CrailFile file = random.nextBoolean() ? kept.get(grown) : null;
      if (file == null) {
        file = find(store, grown.path);
        kept.put(grown, file);
      } else {
        file.refresh();
      }
      try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
        byte[] found = in.readAllBytes();
        assertTrue(found.length >= least, grown.path);
        check(grown.number, found, grown.path);
      }
      operations.incrementAndGet();
    }
    return null;
  }

  /** Puts and gets values of its own. */
  private Void put(CrailStore store, int putter) throws Exception {
    Random random = new Random(1000 + putter);
    CrailBuffer target = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(MIB));
    for (int round = 0; !over.get(); round++) {
      String path = "/values/" + putter + "-" + random.nextInt(4);
      int length = 1 + random.nextInt(random.nextBoolean() ? 3000 : 200_000);
      ByteBuffer memory = ByteBuffer.allocateDirect(length);
      memory.put(0, bytes(round, 0, length));
      store.put(path, OffHeapBuffer.wrap(memory)).get(60, TimeUnit.SECONDS);
      target.position(0);
      CrailResult result = store.get(path, target).get(60, TimeUnit.SECONDS);
      assertEquals(length, result.getLen(), path);
      byte[] found = new byte[length];
      target.getByteBuffer().get(0, found);
      check(round, found, path);
      operations.addAndGet(2);
    }
    return null;
  }

  private void checkAll(CrailStore store) throws Exception {
    for (Grown grown : files) {
      CrailFile file = find(store, grown.path);
      assertEquals(grown.length, file.getCapacity(), grown.path);
      try (CrailBufferedInputStream in = file.getBufferedInputStream(grown.length)) {
        check(grown.number, in.readAllBytes(), grown.path);
      }
    }
  }

  @Test
  void aDatanodeIsDrainedUnderLoadAndANewOneTakesItsShare() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "4s");
    settings.put("crail.namenode.freemargin", "200ms");
    settings.put("crail.storage.keepalive", "800ms");
    ExecutorService threads = Executors.newCachedThreadPool();
    try (ProcessCluster cluster = ProcessCluster.start(2, 3, settings)) {
      CrailStore near = open(cluster, true);
      CrailStore far = open(cluster, false);
      try {
        create(near, "/load", CrailNodeType.DIRECTORY);
        create(near, "/values", CrailNodeType.TABLE);
        for (int i = 0; i < FILES; i++) {
          files.add(new Grown(i));
          append(near, files.get(i), MIB + 1000 * i);
        }
        CrailFile held = create(near, "/load/held", CrailNodeType.DATAFILE);
        CrailBufferedOutputStream holder = held.getBufferedOutputStream(6 * MIB);
        holder.write(bytes(77, 0, 6 * MIB));
        holder.sync().get(60, TimeUnit.SECONDS);

        List<Future<Void>> running = new ArrayList<>();
        for (Callable<Void> each :
            List.<Callable<Void>>of(
                () -> write(near, 0, 2),
                () -> write(far, 1, 2),
                () -> read(near, 0),
                () -> read(far, 1),
                () -> put(near, 0),
                () -> put(far, 1))) {
          running.add(threads.submit(each));
        }
        String address = "127.0.0.1:" + cluster.datanodeAddress(0).getPort();
        CrailProcess drain = cluster.crail("drain", address);
        drain.await("being written.*/load/held .node", PATIENCE);
        holder.close();
        assertEquals(0, drain.awaitExit(PATIENCE), () -> drain.stdout() + drain.stderr());
        assertTrue(drain.stdout().contains(address + " is empty"), drain.stdout());
        assertEquals(0, cluster.datanode(0).awaitExit(PATIENCE));
        int then = operations.get();
        Await.until("the load goes on", PATIENCE, () -> operations.get() > then + 100);
        over.set(true);
        for (Future<Void> each : running) {
          each.get(60, TimeUnit.SECONDS);
        }
        checkAll(far);
        assertEquals(0, ran(cluster, "fsck").code());

        cluster.startDatanode("64m", -1);
        Ran dry = ran(cluster, "rebalance", "--dry-run");
        assertEquals(0, dry.code(), dry.stderr());
        assertTrue(dry.stdout().contains(" from "), dry.stdout());
        String json = ran(cluster, "rebalance", "--dry-run", "--json").stdout();
        assertTrue(json.startsWith("{\n  \"parts\": [\n"), json);
        assertTrue(json.contains("\"balanced\": false,\n  \"movedBytes\": 0,"), json);
        Ran balanced = ran(cluster, "rebalance", "-t", "5");
        assertEquals(0, balanced.code(), balanced.stdout() + balanced.stderr());
        assertTrue(balanced.stdout().contains("\nbalanced; moved "), balanced.stdout());
        // Half of an extent of 1 MiB, and 5 % of 32 MiB.
        assertFalse(ran(cluster, "rebalance", "-n", "-t", "8").stdout().contains(" from "));
        checkAll(near);
        try (CrailBufferedInputStream in =
            find(near, "/load/held").getBufferedInputStream(6 * MIB)) {
          check(77, in.readAllBytes(), "/load/held");
        }
        Ran nobody = ran(cluster, "drain", "127.0.0.1:1");
        assertEquals(1, nobody.code());
        assertTrue(nobody.stderr().contains("unknown datanode"), nobody.stderr());
      } finally {
        over.set(true);
        threads.shutdown();
        assertTrue(threads.awaitTermination(90, TimeUnit.SECONDS), "threads end");
        near.close();
        far.close();
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
