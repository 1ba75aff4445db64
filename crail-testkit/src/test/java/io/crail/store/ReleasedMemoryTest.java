/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stream that is open and idle keeps nothing of the memory that it has moved bytes of. */
@EachTier(and = Tier.NVMF)
class ReleasedMemoryTest {
  private static final int LENGTH = 1 << 20;

  private final Tier tier;

  ReleasedMemoryTest(Tier tier) {
    this.tier = tier;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void idleStreamsKeepNoMemoryOfTheCaller(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 1, "crail.storage.localmap=" + mapped)) {
      CrailFile file = Bytes.createFile(cluster.newStore(), "/a");
      CrailOutputStream output = file.getDirectOutputStream(0);
      awaitReleased(written(output));
      CrailInputStream input = file.getDirectInputStream(0);
      awaitReleased(read(input));
      input.close();
      output.close();
      CrailBufferedOutputStream buffered = file.getBufferedOutputStream(5L * LENGTH);
      awaitReleased(writtenFromTheHeap(buffered));
      buffered.close();
    }
  }

  private static void awaitReleased(WeakReference<?> memory) throws Exception {
    TestCluster.await(
        "the memory is let go of",
        () -> {
          System.gc();
          return memory.get() == null;
        });
  }

  // Methods of their own, so that no variable holds the memory while the collector looks.

  private static WeakReference<ByteBuffer> written(CrailOutputStream output) throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
    assertEquals(LENGTH, output.write(OffHeapBuffer.wrap(memory)).get().getLen());
    return new WeakReference<>(memory);
  }

  private static WeakReference<ByteBuffer> read(CrailInputStream input) throws Exception {
    ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH);
    assertEquals(LENGTH, input.read(OffHeapBuffer.wrap(memory)).get().getLen());
    return new WeakReference<>(memory);
  }

  private static WeakReference<byte[]> writtenFromTheHeap(CrailBufferedOutputStream output)
      throws Exception {
    byte[] memory = new byte[LENGTH];
    for (int i = 0; i < 4; i++) {
      output.write(memory);
    }
    return new WeakReference<>(memory);
  }
}
