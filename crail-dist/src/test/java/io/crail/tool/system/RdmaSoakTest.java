/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.NoSpaceException;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a store over RDMA under mixed load for {@code -Dcrail.test.soak} seconds. The resources of
 * the client's process, the servers and the devices must not grow, and all must be released at the
 * end. The load pauses while resources are counted, so the counts are exact.
 */
@Tag("rdma")
@Tag("repeat")
class RdmaSoakTest {
  private static final int SECONDS = Integer.getInteger("crail.test.soak", 600);

  /** In less time the first third still shows what happens once. */
  private static final int WARM_SECONDS = 300;

  private static final int MOST_PERIOD_SECONDS = 20;
  private static final int LEAST_SAMPLES = 12;

  private static final int WORKERS = 2;
  private static final int LOOKUPS = 64;

  /**
   * By how much the least sample of the last third may be above that of the second; what is not
   * named may not be above it at all. The least one is what is held when nothing is under way:
   * heaps swing with what the collector has not looked at. A JVM keeps something of each look from
   * outside, this one its samples too, and the C library gives back what it likes.
   */
  private static final Map<String, Long> MARGINS =
      Map.of(
          "client " + ProcessProbe.HEAP,
          128L,
          "client " + ProcessProbe.DIRECT,
          2L << 10,
          "client " + ProcessProbe.RESIDENT,
          8L << 10,
          "client " + ProcessProbe.THREADS,
          2L,
          "namenode " + ProcessProbe.HEAP,
          128L,
          "namenode " + ProcessProbe.RESIDENT,
          8L << 10,
          "datanode " + ProcessProbe.HEAP,
          64L,
          "datanode " + ProcessProbe.RESIDENT,
          8L << 10);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong full = new AtomicLong();
  private final List<Map<String, Long>> samples = new ArrayList<>();
  private ProcessCluster cluster;

  @Test
  void nothingGrows() throws Exception {
    System.out.println("RdmaSoakTest: -Dcrail.seed=" + seed);
    final Map<String, Long> before = RdmaCluster.resources();
    cluster = RdmaCluster.start(1, "crail.storage.localmap", "false");
    try {
      cluster.startDatanode("rdma", "160m", -1);
      // A datanode makes its completion queue for its first client.
      try (CrailStore first = newStore()) {
        new Worker(WORKERS, first).operate(first);
      }
      final Map<String, Long> servers = RdmaCluster.settled();
      load();
      RdmaCluster.awaitResources("no client is left", servers, RdmaCluster.MOST_KEPT);
    } finally {
      cluster.close();
    }
    RdmaCluster.awaitResources("nothing is left", before, 0);
    assertTrue(operations.get() >= samples.size(), operations + " operations");
    if (SECONDS >= WARM_SECONDS) {
      judge();
    }
  }

  private void load() throws Exception {
    int period = Math.max(5, Math.min(MOST_PERIOD_SECONDS, SECONDS / LEAST_SAMPLES));
    Map<String, ProcessProbe> probes = new LinkedHashMap<>();
    probes.put("client", new ProcessProbe(ProcessHandle.current().pid()));
    probes.put("namenode", new ProcessProbe(cluster.namenode(0).pid()));
    probes.put("datanode", new ProcessProbe(cluster.datanode(0).pid()));
    ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
    try (CrailStore store = newStore()) {
      List<Worker> workers = new ArrayList<>();
      for (int i = 0; i < WORKERS; i++) {
        workers.add(new Worker(i, store));
      }
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(SECONDS)) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(period);
        List<Future<?>> running = new ArrayList<>();
        for (Worker worker : workers) {
          running.add(threads.submit(() -> worker.run(end)));
        }
        foreignConnections();
        for (Future<?> each : running) {
          each.get(period + ProcessCluster.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        sample(probes, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private CrailStore newStore() throws Exception {
    return CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  /** Programs that speak the connection manager's language and not ours. */
  private void foreignConnections() throws Exception {
    for (int port :
        List.of(cluster.namenodeAddress(0).getPort(), cluster.datanodeAddress(0).getPort())) {
      // Whatever it makes of it.
      RdmaCluster.run(
          "timeout", "5", "rping", "-c", "-a", RdmaCluster.HOST, "-p", "" + port, "-C", "1");
    }
  }

  private void sample(Map<String, ProcessProbe> probes, long second) throws Exception {
    // Memory that the load has lost is given back a little later.
    System.gc();
    final Map<String, Long> resources = RdmaCluster.settled();
    Map<String, Long> sample = new LinkedHashMap<>();
    sample.put("second", second);
    sample.put("operations", operations.get());
    sample.put("full", full.get());
    for (Map.Entry<String, ProcessProbe> probe : probes.entrySet()) {
      probe.getValue().sample().forEach((name, v) -> sample.put(probe.getKey() + " " + name, v));
    }
    resources.forEach((name, value) -> sample.put("rdma " + name, value));
    samples.add(sample);
    if (samples.size() == 1) {
      System.out.println(String.join(" | ", sample.keySet()));
    }
    StringBuilder line = new StringBuilder();
    sample.forEach(
        (name, value) ->
            line.append(String.format(Locale.ROOT, "%" + name.length() + "d | ", value)));
    System.out.println(line);
  }

  private void judge() {
    int third = samples.size() / 3;
    List<String> grown = new ArrayList<>();
    for (String name : samples.get(0).keySet()) {
      if (!name.contains(" ")) {
        continue;
      }
      long second = least(name, samples.subList(third, 2 * third));
      long last = least(name, samples.subList(samples.size() - third, samples.size()));
      if (last > second + MARGINS.getOrDefault(name, 0L)) {
        grown.add(name + " from " + second + " to " + last);
      }
    }
    assertEquals(List.of(), grown, "grew from the second third to the last");
  }

  private static long least(String name, List<Map<String, Long>> among) {
    return among.stream().mapToLong(sample -> sample.get(name)).min().orElseThrow();
  }

  /** The load of a thread: operations of all kinds, none of which leaves anything behind. */
  private final class Worker {
    private static final int LONGEST = 1 << 20;
    private static final int SHORT = 64 << 10;

    private final String directory;
    private final Random random;
    private final CrailStore lasting;
    private long next;

    Worker(int number, CrailStore store) throws Exception {
      this.directory = "/worker" + number;
      this.random = new Random(seed + number);
      this.lasting = store;
      create(store, directory, CrailNodeType.DIRECTORY);
    }

    Void run(long endNanos) throws Exception {
      while (System.nanoTime() - endNanos < 0) {
        try {
          if (random.nextInt(8) == 0) {
            try (CrailStore own = newStore()) {
              operate(own);
            }
          } else {
            operate(lasting);
          }
          operations.incrementAndGet();
        } catch (NoSpaceException e) {
          full.incrementAndGet();
        } catch (ExecutionException e) {
          if (!(e.getCause() instanceof NoSpaceException)) {
            throw e;
          }
          full.incrementAndGet();
        }
      }
      return null;
    }

    private void operate(CrailStore store) throws Exception {
      String path = directory + "/" + next++;
      byte[] bytes = new byte[1 + random.nextInt(random.nextInt(8) == 0 ? LONGEST : SHORT)];
      random.nextBytes(bytes);
      CrailFile file = create(store, path, CrailNodeType.DATAFILE).asFile();
      try {
        write(store, file, bytes);
        String renamed = path + "-renamed";
        store.rename(path, renamed).get();
        path = renamed;
        assertArrayEquals(bytes, read(store, store.lookup(path).get().asFile()));
        lookUp(store, path);
      } finally {
        store.delete(path, false).get();
      }
    }

    private CrailNode create(CrailStore store, String path, CrailNodeType type) throws Exception {
      return store
          .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
          .get();
    }

    private void write(CrailStore store, CrailFile file, byte[] bytes) throws Exception {
      if (random.nextBoolean()) {
        try (CrailBufferedOutputStream out = file.getBufferedOutputStream(bytes.length)) {
          out.write(bytes);
        }
        return;
      }
      CrailOutputStream out = file.getDirectOutputStream(bytes.length);
      try {
        int done = 0;
        while (done < bytes.length) {
          int length = 1 + random.nextInt(bytes.length - done);
          done += move(store, bytes, done, length, out::write);
        }
      } finally {
        out.close();
      }
    }

    private byte[] read(CrailStore store, CrailFile file) throws Exception {
      int length = (int) file.getCapacity();
      if (random.nextBoolean()) {
        try (CrailBufferedInputStream in = file.getBufferedInputStream(length)) {
          return in.readAllBytes();
        }
      }
      CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
      CrailInputStream in = file.getDirectInputStream(length);
      try {
        while (buffer.hasRemaining()) {
          assertTrue(in.read(buffer).get().getLen() > 0, "the file is shorter");
        }
      } finally {
        in.close();
      }
      byte[] bytes = new byte[length];
      buffer.flip().get(bytes);
      return bytes;
    }

    /** Writes out of memory that is not kept, or out of the store's. */
    private int move(CrailStore store, byte[] bytes, int offset, int length, Write write)
        throws Exception {
      if (random.nextBoolean()) {
        CrailBuffer fresh = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
        write.write(fresh.put(Arrays.copyOfRange(bytes, offset, offset + length)).flip()).get();
        return length;
      }
      CrailBuffer pooled = store.allocateBuffer();
      try {
        pooled.clear();
        int taken = Math.min(length, pooled.remaining());
        write.write(pooled.put(Arrays.copyOfRange(bytes, offset, offset + taken)).flip()).get();
        return taken;
      } finally {
        store.freeBuffer(pooled);
      }
    }

    private void lookUp(CrailStore store, String path) throws Exception {
      List<Future<CrailNode>> found = new ArrayList<>();
      for (int i = 0; i < LOOKUPS; i++) {
        found.add(store.lookup(i % 2 == 0 ? path : path + i));
      }
      for (int i = 0; i < LOOKUPS; i++) {
        assertEquals(i % 2 == 0, found.get(i).get(60, TimeUnit.SECONDS) != null);
      }
    }
  }

  /** A write of a stream. */
  private interface Write {
    Future<?> write(CrailBuffer buffer) throws Exception;
  }
}
