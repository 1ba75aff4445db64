/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.TextLimits;
import io.crail.protocol.part.TierTraits;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Ends of transfers, endpoints and datanodes, and what a datanode says about itself. */
@EachTier(alone = true)
class EndsTest extends TierContract {
  EndsTest(Tier tier) {
    super(tier.newBench());
  }

  @Test
  void aPassedDeadlineEndsATransfer() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, extent, 0);
    for (int i = 0; i < 20; i++) {
      Transfer transfer =
          await(begin(endpoint, i % 2 == 0, randomBuffer(BLOCK), 0, BLOCK, extent, 0, 0));
      if (transfer.failure() != null) {
        assertEquals(ErrorCode.TIMED_OUT, transfer.failure().code());
      }
    }
    // Whatever became of them, the endpoint goes on.
    write(endpoint, bytes, extent, 0);
    assertEquals(-1, bytes.mismatch(read(endpoint, BLOCK, extent, 0)));
  }

  @Test
  void closingAnEndpointEndsWhatIsOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer buffer = randomBuffer(BLOCK);
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      transfers.add(begin(endpoint, i % 2 == 0, buffer, 0, BLOCK, extent, 0, PATIENCE_NANOS));
    }
    endpoint.close();
    for (Transfer transfer : transfers) {
      CrailException failure = await(transfer).failure();
      assertTrue(failure == null || failure.code() == ErrorCode.CLOSED, String.valueOf(failure));
    }
    fail(begin(endpoint, false, buffer, 0, 10, extent, 0, PATIENCE_NANOS), ErrorCode.CLOSED);
    endpoint.close();
    StorageEndpoint other = endpoint();
    write(other, buffer, extent, 0);
  }

  @Test
  void aDatanodeThatEndsFailsWhatIsOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer buffer = randomBuffer(BLOCK);
    write(endpoint, buffer, extent, 0);
    long timeoutNanos = 3 * PATIENCE_NANOS / 2;
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      transfers.add(begin(endpoint, i % 2 == 0, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    }
    // A target goes on, and its label says that the namespace is no longer lent.
    List<ErrorCode> ends =
        bench.isOnThePath()
            ? List.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT)
            : List.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT, ErrorCode.DATA_LOST);
    long startNanos = loop.clock().nanoTime();
    server.close();
    for (Transfer transfer : transfers) {
      CrailException failure = await(transfer).failure();
      assertTrue(failure == null || ends.contains(failure.code()), String.valueOf(failure));
    }
    long patience = TimeUnit.SECONDS.toNanos(30);
    Transfer last = await(begin(endpoint, false, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    while (last.failure() == null && loop.clock().nanoTime() - startNanos < patience) {
      last = await(begin(endpoint, false, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    }
    fail(last, ends.toArray(ErrorCode[]::new));
    if (bench.isThreaded()) {
      // Said by the datanode or by its host, and not found out at a deadline.
      assertTrue(loop.clock().nanoTime() - startNanos < PATIENCE_NANOS, "noticed too late");
    }
  }

  @Test
  void aRestartedDatanodeIsNotTakenForTheOldOne() throws Exception {
    assumeTrue(bench.isOnThePath(), "the target knows no datanode");
    DatanodeDescription old = describe(server);
    StorageEndpoint endpoint = endpoint(old);
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, extent, 0);
    server.close();
    StorageServer restarted = bench.newServerAt(old.address());
    start(restarted);
    server = restarted;
    fail(
        begin(endpoint, false, bytes, 0, BLOCK, extent, 0, PATIENCE_NANOS),
        ErrorCode.DATA_LOST,
        ErrorCode.UNAVAILABLE);
    StorageEndpoint fresh = endpoint(describe(restarted));
    if (checksGeneration()) {
      fail(begin(fresh, false, bytes, 0, BLOCK, extent, 0, PATIENCE_NANOS), ErrorCode.OUT_OF_RANGE);
    } else {
      assertEquals(-1, ByteBuffer.allocate(BLOCK).mismatch(read(fresh, BLOCK, extent, 0)));
    }
    write(fresh, bytes, extent, 0);
    assertEquals(-1, bytes.mismatch(read(fresh, BLOCK, extent, 0)));
  }

  @Test
  void theServerDescribesWhatItLends() throws IOException {
    assertEquals(REGIONS, server.regions().size());
    for (int i = 0; i < REGIONS; i++) {
      assertEquals(i, server.regions().get(i).index());
      assertEquals(REGION, server.regions().get(i).length());
    }
    TierTraits traits = server.traits();
    assertEquals(1, Integer.bitCount(traits.granularity()), "a power of two");
    assertTrue(traits.granularity() <= Extent.MIN_LENGTH);
    assertTrue(traits.directory().length() <= TextLimits.REGION_PATH);
    assertTrue(traits.details().length() <= TierTraits.MAX_DETAILS_LENGTH);
    long fence = server.fence(0).generation();
    assertTrue(fence >= 1);
    assertTrue(server.fence(0).generation() > fence, "a later fence must be above an earlier one");
    assertTrue(server.address().getPort() > 0);
  }
}
