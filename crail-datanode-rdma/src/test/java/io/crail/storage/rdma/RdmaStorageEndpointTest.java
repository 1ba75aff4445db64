/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.network.DataHello;
import io.crail.verbs.Verbs;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Tests what is refused before any device is used. */
class RdmaStorageEndpointTest {
  private static final int REGION = 1 << 20;

  private final StorageEndpoint endpoint =
      new RdmaStorageTier.Client(new StorageClient.Context(Configuration.defaults(), null, null, 1))
          .connect(
              new DatanodeDescription(
                  new UUID(1, 2),
                  "rdma",
                  InetSocketAddress.createUnresolved("datanode", 1),
                  0,
                  TierTraits.ofMemory(FenceKind.CUT_OFF, false, ""),
                  Map.of(
                      0, new Region(0, REGION, 1 << 30, 17), 5, new Region(5, 8192, 1 << 20, 18))));

  private ErrorCode refusal(
      boolean write, ByteBuffer buffer, int length, int region, long regionOffset) {
    Transfer transfer = new Transfer();
    Extent extent = new Extent(0, REGION, new Place(1, region, regionOffset, 1));
    transfer.prepare(buffer, 0, length, extent, 0, Long.MAX_VALUE);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    assertTrue(transfer.isFailed());
    return transfer.failure().code();
  }

  @Test
  void theHelloFitsIntoWhatAConnectionCarries() {
    assertTrue(
        DataHello.bytes(DataHello.request(new UUID(1, 2), 3)).remaining()
            <= Verbs.MAX_CONNECT_DATA);
    assertTrue(
        DataHello.bytes(DataHello.response(ErrorCode.OK)).remaining() <= Verbs.MAX_REJECT_DATA);
  }

  @Test
  void noByteOutsideOfItsRegionIsAskedFor() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(REGION);
    for (boolean write : new boolean[] {true, false}) {
      for (long offset :
          new long[] {-1, -4096, REGION, REGION - 4095, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE}) {
        assertEquals(ErrorCode.OUT_OF_RANGE, refusal(write, buffer, 4096, 0, offset));
      }
      assertEquals(ErrorCode.OUT_OF_RANGE, refusal(write, buffer, 8193, 5, 0));
      assertFalse(endpoint.isLost());
    }
  }

  @Test
  void anUnknownRegionMeansThatTheDatanodeMustBeDescribedAnew() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(10);
    for (int region : new int[] {-1, 1, 6, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      assertEquals(ErrorCode.UNAVAILABLE, refusal(true, buffer, 10, region, 0));
    }
    assertTrue(endpoint.isLost());
  }

  @Test
  void memoryThatADeviceCannotUseIsRefused() {
    ByteBuffer readOnly = ByteBuffer.allocateDirect(10).asReadOnlyBuffer();
    assertEquals(ErrorCode.INVALID_ARGUMENT, refusal(false, readOnly, 10, 0, 0));
  }

  @Test
  void keysThatDoNotGoTogetherAreNamed() {
    Configuration configuration =
        Configuration.builder()
            .set(RdmaStorageKeys.QUEUE_DEPTH, 32)
            .set(RdmaKeys.CLIENT_COMPLETIONS, 64)
            .build();
    String message =
        assertThrows(
                ConfigException.class,
                () ->
                    new RdmaStorageTier.Client(
                        new StorageClient.Context(configuration, null, null, 1)))
            .getMessage();
    assertTrue(message.contains("crail.storage.rdma.queuedepth"), message);
    assertTrue(message.contains("crail.rdma.client.completions"), message);
  }
}
