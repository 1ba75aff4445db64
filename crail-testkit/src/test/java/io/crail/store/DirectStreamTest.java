/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.append;
import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.createFile;
import static io.crail.store.Bytes.empty;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.common.error.OutOfRangeException;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What direct streams do, whichever way the bytes take. Each way adds a subclass. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier(
    and = {Tier.MAPPED, Tier.NVMF, Tier.NVMF_KERNEL_RDMA},
    ifLong = Tier.MIXED)
class DirectStreamTest implements EachTier.Shared {
  private static final int BLOCK = 1 << 20;

  private Tier tier;
  private String localMap;
  private TestCluster cluster;
  private CrailStore store;

  @Override
  public void start(Tier tier) throws Exception {
    this.tier = tier;
    localMap = "crail.storage.localmap=" + tier.isMapped();
    cluster = TestCluster.start(tier, 2, 2, localMap);
    store = cluster.newStore();
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  @Test
  void unalignedLengthsPositionsAndOffsets() throws Exception {
    long seed = Bytes.seed("unaligned " + localMap);
    Random random = new Random(seed);
    // A first block, one in the middle and a last one, where more of them take long.
    int most = (isShort() ? 3 : 8) * BLOCK;
    int[] lengths = {BLOCK, most, 1 + random.nextInt(BLOCK), 1 + random.nextInt(most)};
    int[] positions = {0, random.nextInt(BLOCK)};
    int[] offsets = {0, random.nextInt(BLOCK), BLOCK + random.nextInt(BLOCK)};
    int number = 0;
    for (int length : lengths) {
      for (int position : positions) {
        for (int offset : offsets) {
          String what =
              "seed " + seed + ": " + length + " bytes at " + offset + ", buffer " + position;
          // Half of them, with each pair of a length, a position and an offset.
          boolean isOfHalf = (number + number / 6) % 2 == 0;
          if (!isShort() || isOfHalf) {
            roundTrip("/f" + number, random, length, position, offset, what);
          }
          number++;
        }
      }
    }
  }

  private boolean isShort() {
    return tier.isSlow() && !Boolean.getBoolean("crail.test.long");
  }

  private void roundTrip(
      String path, Random random, int length, int position, int offset, String what)
      throws Exception {
    CrailFile file = createFile(store, path);
    CrailInputStream input = file.getDirectInputStream(0);
    CrailOutputStream output = file.getDirectOutputStream(0);
    if (offset > 0) {
      output.write(buffer(new byte[offset])).get();
    }
    byte[] bytes = Bytes.random(random, length);
    CrailBuffer source = buffer(bytes, position);
    CrailResult written = output.write(source).get();
    assertEquals(length, written.getLen(), what);
    assertEquals(0, source.remaining(), what);
    assertEquals(position + length, source.position(), what);
    assertEquals(position + length, source.limit(), what);
    assertEquals(offset + length, output.position(), what);
    // The reader was opened before the first write, on the same handle, and nothing is synced yet.
    assertEquals(offset + length, file.getCapacity(), what);
    input.seek(offset);
    CrailBuffer target = empty(position + length + 7);
    target.position(position).limit(position + length);
    assertEquals(length, input.read(target).get().getLen(), what);
    assertEquals(position + length, target.position(), what);
    assertEquals(position + length, target.limit(), what);
    assertEquals(offset + length, input.position(), what);
    assertContent(bytes, target, position, what);
    input.close();
    output.close();
    CrailFile found = store.lookup(path).get().asFile();
    assertEquals(offset + length, found.getCapacity(), what);
    byte[] all = Bytes.read(found);
    assertEquals(offset + length, all.length, what);
    assertArrayEquals(bytes, Arrays.copyOfRange(all, offset, offset + length), what);
    store.delete(path, false).get();
  }

  private static void assertContent(byte[] bytes, CrailBuffer target, int position, String what) {
    byte[] all = new byte[target.capacity()];
    target.clear();
    target.get(all);
    byte[] expected = new byte[all.length];
    System.arraycopy(bytes, 0, expected, position, bytes.length);
    assertArrayEquals(expected, all, what);
  }

  @Test
  void randomLengthsWithManyOutstanding() throws Exception {
    long seed = Bytes.seed("random " + localMap);
    Random random = new Random(seed);
    int rounds = tier.rounds(4);
    for (int round = 0; round < rounds; round++) {
      String path = "/random" + round;
      int size = 1 + random.nextInt(6 * BLOCK);
      byte[] bytes = Bytes.random(random, size);
      CrailFile file = createFile(store, path);
      long hint = random.nextBoolean() ? size : 0;
      CrailOutputStream output = file.getDirectOutputStream(hint);
      ArrayDeque<Future<CrailResult>> pending = new ArrayDeque<>();
      for (int at = 0; at < size; ) {
        int length = Math.min(size - at, 1 + random.nextInt(1 << random.nextInt(20)));
        pending.add(output.write(buffer(Arrays.copyOfRange(bytes, at, at + length), 3)));
        at += length;
        if (pending.size() > random.nextInt(40)) {
          pending.poll().get();
        }
      }
      for (Future<CrailResult> write : pending) {
        write.get(60, TimeUnit.SECONDS);
      }
      output.close();
      assertEquals(size, store.lookup(path).get().getCapacity());
      readRandomly(store.lookup(path).get().asFile(), bytes, random, "seed " + seed);
      store.delete(path, false).get();
    }
  }

  private record PendingRead(
      Future<CrailResult> future, CrailBuffer target, int offset, int length, long at) {}

  private void readRandomly(CrailFile file, byte[] bytes, Random random, String what)
      throws Exception {
    CrailInputStream input = file.getDirectInputStream(bytes.length);
    List<PendingRead> reads = new ArrayList<>();
    int count = tier.rounds(40);
    for (int i = 0; i < count; i++) {
      long at = random.nextInt(bytes.length + 1);
      int offset = random.nextInt(100);
      int room = random.nextInt(2 * BLOCK);
      int length = (int) Math.min(room, bytes.length - at);
      input.seek(at);
      CrailBuffer target = empty(offset + room);
      target.position(offset);
      reads.add(new PendingRead(input.read(target), target, offset, length, at));
      assertEquals(offset + length, target.position(), what);
      assertEquals(offset + room, target.limit(), what);
      assertEquals(at + length, input.position(), what);
    }
    for (PendingRead read : reads) {
      assertEquals(read.length, read.future.get().getLen(), what);
      byte[] got = new byte[read.length];
      read.target.clear().position(read.offset);
      read.target.get(got);
      assertArrayEquals(
          Arrays.copyOfRange(bytes, (int) read.at, (int) read.at + read.length), got, what);
    }
    input.close();
  }

  @Test
  void readingAtTheEndGivesAnEndedOperation() throws Exception {
    CrailFile file = Bytes.write(store, "/end", new byte[10]);
    CrailInputStream input = file.getDirectInputStream(0);
    assertEquals(10, input.available());
    CrailBuffer target = empty(16);
    assertEquals(10, input.read(target).get().getLen());
    assertEquals(10, target.position());
    assertEquals(16, target.limit());
    assertEquals(0, input.available());
    Future<CrailResult> end = input.read(target);
    assertTrue(end.isDone());
    assertEquals(0, end.get().getLen());
    assertEquals(10, target.position());
    target.clear().limit(0);
    input.seek(0);
    assertEquals(0, input.read(target).get().getLen());
    assertThrows(OutOfRangeException.class, () -> input.seek(11));
    assertThrows(OutOfRangeException.class, () -> input.seek(-1));
    input.seek(10);
    assertEquals(10, input.position());
    input.close();
    input.close();
    assertThrows(ClosedException.class, () -> input.read(target));
  }

  @Test
  void heapMemoryIsRefused() throws Exception {
    assertThrows(IllegalArgumentException.class, () -> OffHeapBuffer.wrap(ByteBuffer.allocate(10)));
  }

  @Test
  void appendsInSeveralStreamsOfOneHandleAndOfAnother() throws Exception {
    Random random = new Random(Bytes.seed("appends " + localMap));
    byte[] bytes = Bytes.random(random, 300_000);
    CrailFile file = createFile(store, "/append");
    assertTrue(file.getToken() != 0);
    append(file, Arrays.copyOfRange(bytes, 0, 5_000));
    assertEquals(0, file.getToken());
    append(file, Arrays.copyOfRange(bytes, 5_000, 8_192));
    CrailStore other = cluster.newStore();
    CrailFile found = other.lookup("/append").get().asFile();
    assertEquals(8_192, found.getCapacity());
    append(found, Arrays.copyOfRange(bytes, 8_192, 100_001));
    append(found, Arrays.copyOfRange(bytes, 100_001, bytes.length));
    assertEquals(bytes.length, found.getCapacity());
    assertArrayEquals(bytes, Bytes.read(store.lookup("/append").get().asFile()));
    assertEquals(8_192, file.getCapacity());
    file.refresh();
    assertArrayEquals(bytes, Bytes.read(file));
  }

  @Test
  void aReaderFollowsAGrowingFile() throws Exception {
    Random random = new Random(Bytes.seed("grows " + localMap));
    CrailStore other = cluster.newStore();
    CrailFile file = createFile(store, "/grows");
    CrailOutputStream output = file.getDirectOutputStream(0);
    CrailFile seen = other.lookup("/grows").get().asFile();
    CrailInputStream input = seen.getDirectInputStream(0);
    for (int round = 0; round < 6; round++) {
      byte[] bytes = Bytes.random(random, 1 + random.nextInt(200_000));
      output.write(buffer(bytes));
      assertEquals(0, input.available());
      output.sync().get();
      seen.refresh();
      assertEquals(bytes.length, input.available());
      assertArrayEquals(bytes, Bytes.read(input, bytes.length));
    }
    input.close();
    output.close();
  }

  @Test
  void syncMakesBytesVisible() throws Exception {
    CrailFile file = createFile(store, "/sync");
    CrailOutputStream output = file.getDirectOutputStream(0);
    output.write(buffer(new byte[70_000]));
    output.write(buffer(new byte[70_000]));
    assertNull(output.sync().get());
    assertEquals(140_000, store.lookup("/sync").get().getCapacity());
    output.write(buffer(new byte[1])).get();
    assertEquals(140_000, store.lookup("/sync").get().getCapacity());
    output.sync();
    output.close();
    assertEquals(140_001, store.lookup("/sync").get().getCapacity());
    assertThrows(ClosedException.class, () -> output.write(buffer(new byte[1])));
    assertThrows(ClosedException.class, output::sync);
    output.close();
  }

  @Test
  void aHintGetsWholeBlocksAndTheRestComesBack() throws Exception {
    long before = cluster.usage().usedBytes();
    CrailFile file = createFile(store, "/hint");
    CrailOutputStream output = file.getDirectOutputStream(3L * BLOCK);
    assertEquals(3L * BLOCK, output.getWriteHint());
    output.write(buffer(new byte[100])).get();
    assertTrue(cluster.usage().usedBytes() >= before + BLOCK);
    output.close();
    assertEquals(before + BLOCK, cluster.usage().usedBytes());
    append(createFile(store, "/small"), new byte[100]);
    assertEquals(before + BLOCK + 4096, cluster.usage().usedBytes());
  }

  @Test
  void readersOfManyThreadsShareAHandle() throws Exception {
    Random random = new Random(Bytes.seed("threads " + localMap));
    byte[] bytes = Bytes.random(random, 3 * BLOCK + 17);
    CrailFile file = Bytes.write(store, "/shared", bytes);
    AtomicReference<Throwable> problem = new AtomicReference<>();
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      long seed = random.nextLong();
      threads[t] =
          new Thread(
              () -> {
                try {
                  readRandomly(file, bytes, new Random(seed), "seed " + seed);
                } catch (Throwable e) {
                  problem.set(e);
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join(60_000);
      assertFalse(thread.isAlive());
    }
    assertNull(problem.get());
  }
}
