/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.testkit.contract.AllocationCount;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Transfers that succeed: all bytes are compared, those around a transfer included. */
@EachTier(alone = true)
class TransfersTest extends TierContract {
  private static final byte GUARD = (byte) 0xA5;

  private final Tier tier;

  TransfersTest(Tier tier) {
    super(tier.newBench());
    this.tier = tier;
  }

  @Test
  void movesEveryLengthAtRandomOffsets() throws Exception {
    StorageEndpoint endpoint = endpoint();
    int[] lengths = {1, 2, 3, 4095, 4096, 4097, 8191, 65_535, 65_536, 65_537, 300_000, BLOCK};
    int rounds = lengths.length + tier.rounds(48);
    for (int round = 0; round < rounds; round++) {
      int length = round < lengths.length ? lengths[round] : 1 + random.nextInt(BLOCK);
      Extent extent =
          extent(random.nextInt(REGIONS), (long) random.nextInt(REGION / BLOCK) * BLOCK, BLOCK);
      moveOnce(endpoint, extent, length);
    }
  }

  private void moveOnce(StorageEndpoint endpoint, Extent extent, int length) throws Exception {
    int extentOffset = random.nextInt(BLOCK - length + 1);
    int sourceOffset = random.nextInt(100);
    ByteBuffer source = randomBuffer(sourceOffset + length + random.nextInt(100));
    source.position(random.nextInt(source.capacity())).limit(source.position());
    int position = source.position();
    succeed(
        begin(endpoint, true, source, sourceOffset, length, extent, extentOffset, PATIENCE_NANOS));
    assertEquals(position, source.position());
    assertEquals(position, source.limit());

    int targetOffset = random.nextInt(100);
    int capacity = targetOffset + length + random.nextInt(100);
    ByteBuffer target = ByteBuffer.allocateDirect(capacity);
    for (int i = 0; i < capacity; i++) {
      target.put(i, GUARD);
    }
    target.position(random.nextInt(capacity)).limit(target.position());
    position = target.position();
    succeed(
        begin(endpoint, false, target, targetOffset, length, extent, extentOffset, PATIENCE_NANOS));
    assertEquals(position, target.position());
    assertEquals(position, target.limit());
    target.clear();
    source.clear();
    assertEquals(
        -1, source.slice(sourceOffset, length).mismatch(target.slice(targetOffset, length)));
    for (int i = 0; i < capacity; i++) {
      if (i < targetOffset || i >= targetOffset + length) {
        assertEquals(GUARD, target.get(i), "a byte outside the transfer was changed");
      }
    }
  }

  /** A stream that copies arrays within this host may have to use the network after all. */
  @Test
  void memoryOfTheHeapIsMovedToo() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(1, 0, BLOCK);
    byte[] bytes = new byte[100_000];
    random.nextBytes(bytes);
    ByteBuffer source = ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    succeed(begin(endpoint, true, source, 100, 99_000, extent, 7, PATIENCE_NANOS));
    byte[] got = new byte[bytes.length];
    succeed(begin(endpoint, false, ByteBuffer.wrap(got), 100, 99_000, extent, 7, PATIENCE_NANOS));
    byte[] expected = new byte[bytes.length];
    System.arraycopy(bytes, 100, expected, 100, 99_000);
    assertArrayEquals(expected, got);
    endpoint.close();
    fail(begin(endpoint, true, source, 0, 10, extent, 0, PATIENCE_NANOS), ErrorCode.CLOSED);
  }

  @Test
  void aWriteChangesNothingAroundIt() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer before = randomBuffer(BLOCK);
    write(endpoint, before, extent, 0);
    ByteBuffer patch = randomBuffer(70_000);
    write(endpoint, patch, extent, 12_345);
    before.put(12_345, patch, 0, 70_000);
    assertEquals(-1, before.mismatch(read(endpoint, BLOCK, extent, 0)));
  }

  @Test
  void manyTransfersMayBeOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent[] extents = new Extent[REGIONS * REGION / BLOCK];
    ByteBuffer[] sources = new ByteBuffer[extents.length];
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < extents.length; i++) {
      extents[i] = extent(i % REGIONS, (long) (i / REGIONS) * BLOCK, BLOCK);
      sources[i] = randomBuffer(BLOCK);
      // In pieces, so that there are far more than a connection has slots.
      for (int at = 0; at < BLOCK; at += BLOCK / 16) {
        transfers.add(
            begin(endpoint, true, sources[i], at, BLOCK / 16, extents[i], at, PATIENCE_NANOS));
      }
    }
    for (Transfer transfer : transfers) {
      succeed(transfer);
    }
    transfers.clear();
    ByteBuffer[] targets = new ByteBuffer[extents.length];
    for (int i = 0; i < extents.length; i++) {
      targets[i] = ByteBuffer.allocateDirect(BLOCK);
      int piece = i % 2 == 0 ? BLOCK / 8 : BLOCK / 64;
      for (int at = 0; at < BLOCK; at += piece) {
        transfers.add(
            begin(endpoint, false, targets[i], at, piece, extents[i], at, PATIENCE_NANOS));
      }
    }
    for (Transfer transfer : transfers) {
      succeed(transfer);
    }
    for (int i = 0; i < extents.length; i++) {
      assertEquals(-1, sources[i].mismatch(targets[i]), "extent " + i);
    }
  }

  @Test
  void aTransferMayBeUsedAgain() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(1, BLOCK, BLOCK);
    ByteBuffer memory = randomBuffer(BLOCK);
    Transfer transfer = new Transfer();
    int rounds = tier.rounds(100);
    for (int i = 0; i < rounds; i++) {
      int length = 1 + random.nextInt(100_000);
      int at = random.nextInt(BLOCK - length);
      transfer.prepare(memory, at, length, extent, at, loop.clock().nanoTime() + PATIENCE_NANOS);
      endpoint.write(transfer);
      succeed(transfer);
      ByteBuffer target = ByteBuffer.allocateDirect(length);
      transfer.prepare(target, 0, length, extent, at, loop.clock().nanoTime() + PATIENCE_NANOS);
      endpoint.read(transfer);
      succeed(transfer);
      assertEquals(-1, target.mismatch(memory.slice(at, length)));
    }
  }

  @Test
  void threadsShareAnEndpoint() throws Exception {
    assumeTrue(bench.isThreaded(), "this tier lives in one thread");
    StorageEndpoint endpoint = endpoint();
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Extent extent = extent(i % REGIONS, (long) i * BLOCK, BLOCK);
        ByteBuffer source = randomBuffer(BLOCK);
        Random own = new Random(seed + i);
        results.add(executor.submit(moving(endpoint, extent, source, own)));
      }
      for (Future<?> result : results) {
        result.get(120, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private Callable<Void> moving(
      StorageEndpoint endpoint, Extent extent, ByteBuffer source, Random own) {
    return () -> {
      int rounds = tier.rounds(30);
      for (int i = 0; i < rounds; i++) {
        int length = 1 + own.nextInt(i % 2 == 0 ? BLOCK : 2000);
        int at = own.nextInt(BLOCK - length + 1);
        succeed(begin(endpoint, true, source, at, length, extent, at, PATIENCE_NANOS));
        assertEquals(-1, read(endpoint, length, extent, at).mismatch(source.slice(at, length)));
      }
      return null;
    };
  }

  @Test
  void otherEndpointsSeeWhatWasWritten() throws Exception {
    StorageEndpoint writer = endpoint();
    StorageEndpoint reader = endpoint();
    Extent extent = extent(0, 3 * BLOCK, BLOCK);
    int rounds = tier.rounds(50);
    for (int i = 0; i < rounds; i++) {
      ByteBuffer bytes = randomBuffer(1 + random.nextInt(200_000));
      write(writer, bytes, extent, 0);
      assertEquals(-1, bytes.mismatch(read(reader, bytes.capacity(), extent, 0)));
    }
  }

  @Test
  void transfersAllocateNothing() throws Exception {
    assumeTrue(bench.bytesOfTransfer() >= 0, "a simulation may allocate");
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    write(endpoint, randomBuffer(BLOCK), extent, 0);
    Transfer[] transfers = new Transfer[16];
    ByteBuffer[] buffers = new ByteBuffer[transfers.length];
    for (int i = 0; i < transfers.length; i++) {
      transfers[i] = new Transfer();
      buffers[i] = randomBuffer(BLOCK / transfers.length);
    }
    for (boolean write : new boolean[] {true, false}) {
      for (int length : new int[] {4, 4096, 4 * 4096}) {
        for (int inFlight : new int[] {1, transfers.length}) {
          int repeated = Math.min(400, 2 * BLOCK / length) / inFlight;
          AllocationCount.assertAtMost(
              (write ? "a write of " : "a read of ") + length + " bytes, of " + inFlight,
              repeated * inFlight,
              bench.bytesOfTransfer(),
              () -> {
                for (int i = 0; i < repeated; i++) {
                  moveAll(endpoint, write, transfers, inFlight, buffers, length, extent);
                }
              });
        }
      }
    }
  }

  private void moveAll(
      StorageEndpoint endpoint,
      boolean write,
      Transfer[] transfers,
      int count,
      ByteBuffer[] buffers,
      int length,
      Extent extent)
      throws InterruptedException {
    long deadline = loop.clock().nanoTime() + PATIENCE_NANOS;
    for (int i = 0; i < count; i++) {
      transfers[i].prepare(buffers[i], 0, length, extent, i * length, deadline);
      if (write) {
        endpoint.write(transfers[i]);
      } else {
        endpoint.read(transfers[i]);
      }
    }
    for (int i = 0; i < count; i++) {
      if (!loop.await(transfers[i], deadline) || transfers[i].failure() != null) {
        throw new AssertionError(transfers[i].failure());
      }
    }
  }
}
