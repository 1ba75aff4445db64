/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What the mapped access has to do with those who come over the network. */
class MappedTierTest extends TierContract {
  MappedTierTest() {
    super(new MappedBench());
  }

  @Test
  void generationsAreNotCheckedIfTheTierDoesNot() throws Exception {
    DatanodeDescription checked = describe(server);
    StorageEndpoint mapped =
        endpoint(
            new DatanodeDescription(
                checked.uuid(),
                checked.tier(),
                checked.address(),
                checked.storageClass(),
                TierTraits.ofMemory(
                    FenceKind.CUT_OFF, true, checked.traits().directory().toString()),
                checked.regions()));
    // As others write it over the network: without a trace beside the bytes.
    Extent extent = extent(0, BLOCK, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(mapped, bytes, extent, 0);
    fail(
        begin(endpoint(), false, bytes, 0, BLOCK, extent, 0, PATIENCE_NANOS),
        ErrorCode.OUT_OF_RANGE);
    Extent young = laterExtent(extent);
    assertEquals(-1, bytes.mismatch(read(mapped, BLOCK, young, 0)));
    ByteBuffer others = randomBuffer(BLOCK);
    write(mapped, others, young, 0);
    assertEquals(-1, others.mismatch(read(mapped, BLOCK, extent, 0)));
    // But a fence counts.
    long fence = server.fence(0).generation();
    fail(begin(mapped, true, bytes, 0, BLOCK, young, 0, PATIENCE_NANOS), ErrorCode.STALE_EXTENT);
    fail(begin(mapped, false, bytes, 0, BLOCK, young, 0, PATIENCE_NANOS), ErrorCode.STALE_EXTENT);
    write(mapped, bytes, new Extent(0, BLOCK, new Place(1, 0, BLOCK, fence + 1)), 0);
  }

  @Test
  void theNetworkSeesTheSameBytesAndGenerations() throws Exception {
    StorageEndpoint mapped = endpoint();
    try (StorageClient client = bench.newClient(loop);
        StorageEndpoint remote = client.connect(describe(server))) {
      Extent old = extent(1, 4 * BLOCK, BLOCK);
      ByteBuffer bytes = randomBuffer(BLOCK);
      write(mapped, bytes, old, 0);
      assertEquals(-1, bytes.mismatch(read(remote, BLOCK, old, 0)));
      Extent young = laterExtent(old);
      ByteBuffer others = randomBuffer(BLOCK);
      write(remote, others, young, 0);
      fail(begin(mapped, false, bytes, 0, BLOCK, old, 0, PATIENCE_NANOS), ErrorCode.STALE_EXTENT);
      fail(begin(mapped, true, bytes, 0, BLOCK, old, 0, PATIENCE_NANOS), ErrorCode.STALE_EXTENT);
      assertEquals(-1, others.mismatch(read(mapped, BLOCK, young, 0)));
    }
  }
}
