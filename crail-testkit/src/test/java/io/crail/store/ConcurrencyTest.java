/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.create;
import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.StaleNodeException;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What several clients see of each other on the same nodes. */
@EachTier(and = Tier.NVMF, ifLong = Tier.MIXED)
@Tag("repeat")
class ConcurrencyTest {
  /** Threads run for so long, or longer until they have done enough to mean something. */
  private static final long RUN_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Boolean.getBoolean("crail.test.long") ? 1_500 : 500);

  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final int ENOUGH = 20;

  /** Where what is freed rests, there is space for no more than that. */
  private static final int MOST_PUTS = 1_000;

  private static final int RECORD = 1_000;

  private final Tier tier;
  private final AtomicReference<Throwable> problem = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();

  private interface Body {
    void run() throws Exception;
  }

  ConcurrencyTest(Tier tier) {
    this.tier = tier;
  }

  private void thread(Body body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (Throwable e) {
                problem.compareAndSet(null, e);
              }
            });
    threads.add(thread);
    thread.start();
  }

  private boolean goesOn(long began, BooleanSupplier enough) {
    long passed = System.nanoTime() - began;
    return problem.get() == null
        && passed < MOST_NANOS
        && (passed < RUN_NANOS || !enough.getAsBoolean());
  }

  private void join() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join(TimeUnit.NANOSECONDS.toMillis(2 * MOST_NANOS));
      assertFalse(thread.isAlive(), "a thread hangs");
    }
    Throwable found = problem.get();
    if (found != null) {
      throw new AssertionError(found);
    }
  }

  /**
   * Readers see a whole value, none, or an error; never bytes of two values, nor of another key.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void valuesAreNeverTorn(boolean mapped) throws Exception {
    long seed = Bytes.seed("values");
    try (TestCluster cluster = TestCluster.start(tier, 1, 2, "crail.storage.localmap=" + mapped)) {
      create(cluster.newStore(), "/t", CrailNodeType.TABLE);
      AtomicInteger puts = new AtomicInteger();
      AtomicInteger reads = new AtomicInteger();
      AtomicInteger stale = new AtomicInteger();
      long began = System.nanoTime();
      for (int t = 0; t < 4; t++) {
        Random random = new Random(seed + t);
        CrailStore store = cluster.newStore();
        boolean writes = t < 2;
        thread(
            () -> {
              while ((tier.checksGeneration() || puts.get() < MOST_PUTS)
                  && goesOn(began, () -> puts.get() > ENOUGH && reads.get() > ENOUGH)) {
                int key = random.nextInt(3);
                if (writes) {
                  put(store, key, random, puts);
                } else {
                  read(store, key, reads, stale);
                }
              }
            });
      }
      join();
      assertTrue(puts.get() > ENOUGH && reads.get() > ENOUGH, puts + " puts, " + reads + " reads");
      System.out.println(puts + " puts, " + reads + " reads, " + stale + " stale");
    }
  }

  private static void put(CrailStore store, int key, Random random, AtomicInteger puts)
      throws Exception {
    byte[] value = new byte[1 + random.nextInt(100_000)];
    // All bytes tell the key and the value, so that one that is of neither is seen.
    Arrays.fill(value, (byte) (key << 6 | random.nextInt(64)));
    CrailKeyValue kv =
        store
            .create(
                "/t/" + key,
                CrailNodeType.KEYVALUE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asKeyValue();
    try {
      Bytes.append(kv, value);
      puts.incrementAndGet();
    } catch (StaleNodeException e) {
      // Another put came in between.
    } catch (ExecutionException e) {
      expectStale(e);
    }
  }

  private static void read(CrailStore store, int key, AtomicInteger reads, AtomicInteger stale)
      throws Exception {
    CrailNode node = store.lookup("/t/" + key).get();
    if (node == null || node.getCapacity() == 0) {
      return;
    }
    byte[] value;
    try {
      value = Bytes.read(node.asKeyValue());
    } catch (ExecutionException e) {
      expectStale(e);
      stale.incrementAndGet();
      return;
    }
    assertEquals(node.getCapacity(), value.length);
    assertEquals(key, (value[0] & 0xff) >>> 6);
    for (byte each : value) {
      assertEquals(value[0], each);
    }
    reads.incrementAndGet();
  }

  private static void expectStale(ExecutionException failure) throws ExecutionException {
    if (!(failure.getCause() instanceof StaleNodeException)) {
      throw failure;
    }
  }

  /** What was acknowledged is there, once, in the order of the appends. */
  @Test
  void appendersTakeTurns() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1)) {
      CrailStore first = cluster.newStore();
      createFile(first, "/log");
      // The creator's own lease ends with its first stream.
      Bytes.append(first.lookup("/log").get().asFile(), new byte[0]);
      AtomicInteger[] acknowledged = {
        new AtomicInteger(), new AtomicInteger(), new AtomicInteger()
      };
      AtomicInteger refused = new AtomicInteger();
      long began = System.nanoTime();
      for (int t = 0; t < acknowledged.length; t++) {
        int writer = t;
        CrailStore store = cluster.newStore();
        thread(
            () -> {
              while (goesOn(began, () -> sum(acknowledged) > ENOUGH)) {
                if (!append(store, writer, acknowledged[writer])) {
                  refused.incrementAndGet();
                }
              }
            });
      }
      join();
      CrailFile log = first.lookup("/log").get().asFile();
      ByteBuffer all = ByteBuffer.wrap(Bytes.read(log));
      int[] next = new int[acknowledged.length];
      while (all.hasRemaining()) {
        int writer = all.getInt();
        assertEquals(next[writer]++, all.getInt());
        all.position(all.position() + RECORD - 2 * Integer.BYTES);
      }
      for (int writer = 0; writer < next.length; writer++) {
        assertEquals(acknowledged[writer].get(), next[writer]);
      }
      assertTrue(sum(acknowledged) > ENOUGH, Arrays.toString(next) + ", refused " + refused);
      assertNull(problem.get());
    }
  }

  private static int sum(AtomicInteger[] numbers) {
    return Arrays.stream(numbers).mapToInt(AtomicInteger::get).sum();
  }

  private static boolean append(CrailStore store, int writer, AtomicInteger acknowledged)
      throws Exception {
    CrailOutputStream output;
    try {
      output = store.lookup("/log").get().asFile().getDirectOutputStream(0);
    } catch (WriteLeaseHeldException e) {
      return false;
    }
    ByteBuffer record = ByteBuffer.allocate(RECORD);
    record.putInt(writer).putInt(acknowledged.get());
    output.write(Bytes.buffer(record.array())).get();
    output.close();
    acknowledged.incrementAndGet();
    return true;
  }
}
