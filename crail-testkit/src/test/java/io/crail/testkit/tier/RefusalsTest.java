/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.storage.Fencer;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a datanode refuses, and that nothing else suffers from it. */
@EachTier(alone = true)
class RefusalsTest extends TierContract {
  private static final String NO_GENERATIONS = "this tier knows no generations";

  RefusalsTest(Tier tier) {
    super(tier.newBench());
  }

  @Test
  void bytesThatWereNeverWrittenAreNotRead() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    StorageEndpoint endpoint = endpoint();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK);
    for (int length : new int[] {1, 4096, 70_000, BLOCK}) {
      Extent extent = extent(0, 5 * BLOCK, BLOCK);
      fail(
          begin(endpoint, false, buffer, 0, length, extent, 0, PATIENCE_NANOS),
          ErrorCode.OUT_OF_RANGE);
    }
    Extent half = extent(0, 5 * BLOCK, BLOCK);
    write(endpoint, randomBuffer(BLOCK / 2), half, 0);
    fail(
        begin(endpoint, false, buffer, 0, BLOCK / 2 + 1, half, 0, PATIENCE_NANOS),
        ErrorCode.OUT_OF_RANGE);
    read(endpoint, BLOCK / 2, half, 0);
  }

  @Test
  void staleGenerationsAreRefused() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    StorageEndpoint endpoint = endpoint();
    for (int length : new int[] {1, 5000, 70_000, BLOCK}) {
      Extent old = extent(1, 2 * BLOCK, BLOCK);
      write(endpoint, randomBuffer(length), old, 0);
      Extent young = laterExtent(old);
      ByteBuffer bytes = randomBuffer(length);
      // The last byte alone makes the whole of the old access stale.
      write(endpoint, bytes.slice(length - 1, 1), young, length - 1);
      fail(
          begin(endpoint, false, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS),
          ErrorCode.STALE_EXTENT);
      fail(
          begin(endpoint, true, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS),
          ErrorCode.STALE_EXTENT);
      ByteBuffer seen = read(endpoint, 1, young, length - 1);
      assertEquals(bytes.get(length - 1), seen.get(0), "a stale write has changed a byte");
      // The connection serves on after a refusal.
      write(endpoint, bytes, young, 0);
      assertEquals(-1, bytes.mismatch(read(endpoint, length, young, 0)));
    }
  }

  @Test
  void refusalsDoNotDisturbTheirNeighbours() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent old = checksGeneration() ? extent(0, 0, BLOCK) : extent(0, REGION, BLOCK);
    ErrorCode refusal = checksGeneration() ? ErrorCode.STALE_EXTENT : ErrorCode.OUT_OF_RANGE;
    Extent young = extent(0, 0, BLOCK);
    Extent other = extent(1, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, young, 0);
    write(endpoint, bytes, other, 0);
    List<Transfer> good = new ArrayList<>();
    List<Transfer> bad = new ArrayList<>();
    List<ByteBuffer> targets = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int length = 1 + random.nextInt(i % 3 == 0 ? BLOCK : 20_000);
      bad.add(begin(endpoint, i % 2 == 0, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS));
      ByteBuffer target = ByteBuffer.allocateDirect(length);
      targets.add(target);
      good.add(begin(endpoint, false, target, 0, length, other, 0, PATIENCE_NANOS));
      good.add(begin(endpoint, true, bytes, 0, length, other, 0, PATIENCE_NANOS));
    }
    for (Transfer transfer : good) {
      succeed(transfer);
    }
    for (Transfer transfer : bad) {
      fail(transfer, refusal);
    }
    for (ByteBuffer target : targets) {
      assertEquals(-1, target.mismatch(bytes.slice(0, target.capacity())));
    }
    assertEquals(-1, bytes.mismatch(read(endpoint, BLOCK, young, 0)));
  }

  @Test
  void placesOutsideTheRegionsAreRefused() throws Exception {
    StorageEndpoint endpoint = endpoint();
    ByteBuffer buffer = randomBuffer(BLOCK);
    List<Extent> outside =
        List.of(
            extent(0, REGION - 4096, BLOCK),
            extent(0, REGION, BLOCK),
            extent(0, -4096, BLOCK),
            extent(0, Long.MAX_VALUE - 4095, BLOCK),
            extent(0, Long.MIN_VALUE, BLOCK),
            extent(0, 1L << 32, BLOCK),
            extent(-1, 0, BLOCK),
            extent(Integer.MAX_VALUE, 0, BLOCK),
            extent(REGIONS, 0, BLOCK));
    for (Extent extent : outside) {
      for (int length : new int[] {4097, BLOCK}) {
        for (boolean write : new boolean[] {true, false}) {
          fail(
              begin(endpoint, write, buffer, 0, length, extent, 0, PATIENCE_NANOS),
              ErrorCode.OUT_OF_RANGE,
              ErrorCode.UNAVAILABLE);
        }
      }
    }
    Extent inside = extent(REGIONS - 1, REGION - BLOCK, BLOCK);
    write(endpoint, buffer, inside, 0);
    assertEquals(-1, buffer.mismatch(read(endpoint, BLOCK, inside, 0)));
  }

  @Test
  void aReaderNeverTakesBytesOfAnotherGeneration() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    assumeTrue(bench.isThreaded(), "this tier lives in one thread");
    StorageEndpoint writing = endpoint();
    StorageEndpoint reading = endpoint();
    int length = 200_000;
    Extent[] current = {extent(0, 6 * BLOCK, BLOCK)};
    ByteBuffer bytes = filled(length, current[0].place().generation());
    write(writing, bytes, current[0], 0);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Extent[] shared = current;
      Future<?> writer =
          executor.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  Extent following;
                  synchronized (shared) {
                    following = laterExtent(shared[0]);
                  }
                  write(writing, filled(length, following.place().generation()), following, 0);
                  synchronized (shared) {
                    shared[0] = following;
                  }
                }
                return null;
              });
      int matched = 0;
      while (!writer.isDone() || matched == 0) {
        Extent extent;
        synchronized (shared) {
          extent = shared[0];
        }
        ByteBuffer target = ByteBuffer.allocateDirect(length);
        Transfer transfer =
            await(begin(reading, false, target, 0, length, extent, 0, PATIENCE_NANOS));
        if (transfer.failure() == null) {
          matched++;
          assertEquals(-1, target.mismatch(filled(length, extent.place().generation())));
        } else {
          assertEquals(ErrorCode.STALE_EXTENT, transfer.failure().code());
        }
      }
      writer.get(120, TimeUnit.SECONDS);
    } finally {
      executor.shutdownNow();
    }
  }

  private static ByteBuffer filled(int length, long generation) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    for (int at = 0; at + 8 <= length; at += 8) {
      buffer.putLong(at, generation);
    }
    return buffer;
  }

  @Test
  void aFenceShutsOutWhoKnowsTheRegionAsItWas() throws Exception {
    assumeTrue(bench.isOnThePath(), "the target knows no fence");
    StorageEndpoint old = endpoint();
    Extent fenced = extent(0, 0, BLOCK);
    Extent other = extent(1, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(old, bytes, fenced, 0);
    write(old, bytes, other, 0);
    for (int round = 0; round < 2; round++) {
      List<Transfer> underWay = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        underWay.add(begin(old, i % 2 == 0, bytes.duplicate(), 0, BLOCK, other, 0, PATIENCE_NANOS));
      }
      server.beforeFences(List.of(0));
      Fencer.Fence fence = server.fence(0);
      assertEquals(server.regions().get(0), fence.region());
      lastGeneration = Math.max(lastGeneration, fence.generation());
      StorageEndpoint fresh = endpoint(describe(server));
      Extent young = extent(0, 0, BLOCK);
      ByteBuffer others = randomBuffer(BLOCK);
      write(fresh, others, young, 0);
      for (boolean write : new boolean[] {true, false}) {
        fail(
            begin(old, write, randomBuffer(BLOCK), 0, BLOCK, fenced, 0, PATIENCE_NANOS),
            ErrorCode.STALE_EXTENT,
            ErrorCode.UNAVAILABLE);
      }
      assertEquals(-1, others.mismatch(read(fresh, BLOCK, young, 0)));
      // No other client notices.
      for (Transfer each : underWay) {
        succeed(each);
      }
      assertEquals(-1, bytes.mismatch(read(old, BLOCK, other, 0)));
    }
  }
}
