/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testguard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.DoubleReleaseError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.junit.jupiter.api.Test;

/** The guard sees what it is there for, and nothing else. */
class MemoryGuardTest {
  private static final Logger LOG = LogManager.getLogger(MemoryGuardTest.class);
  private static final LogWatch WATCH = LogWatch.begin();

  @Test
  void seesMemoryThatIsGivenBackTwice() {
    LOG.error("a bug of another kind", new IllegalStateException());
    assertEquals(0, WATCH.take().size());
    LOG.error("a request failed", new DoubleReleaseError("a chunk"));
    LOG.error("as well", new RuntimeException(new IllegalReferenceCountException(0, 1)));
    assertEquals(2, WATCH.take().size());
    assertEquals(0, WATCH.take().size());
  }

  @Test
  void seesMemoryThatIsNeverGivenBack() {
    // Collected at some time, and told of at the next allocation.
    long end = System.nanoTime() + 60_000_000_000L;
    while (WATCH.take().isEmpty()) {
      assertTrue(System.nanoTime() - end < 0, "a leak was not told of");
      forget();
      System.gc();
      ByteBuf next = UnpooledByteBufAllocator.DEFAULT.directBuffer(1, 1);
      next.release();
    }
  }

  private static void forget() {
    UnpooledByteBufAllocator.DEFAULT.directBuffer(8, 8).setByte(0, 1);
  }
}
