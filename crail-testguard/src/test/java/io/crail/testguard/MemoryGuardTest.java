/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testguard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.DoubleReleaseError;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.junit.jupiter.api.Test;

/** The guard finds memory errors, and nothing else. */
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
  void seesMemoryThatIsNeverGivenBackAtOnce() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      forget("leak " + i);
      MemoryGuard.tellOfLeaks();
      List<String> found = WATCH.take();
      assertEquals(1, found.size(), "leak " + i);
      assertTrue(found.get(0).contains("leak " + i), found::toString);
    }
  }

  private static void forget(String hint) {
    // Netty reports leaks with the same history only once.
    UnpooledByteBufAllocator.DEFAULT.directBuffer(8, 8).touch(hint);
  }
}
