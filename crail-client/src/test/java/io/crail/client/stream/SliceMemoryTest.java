/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import static org.junit.jupiter.api.Assertions.assertSame;

import io.crail.CrailBuffer;
import io.crail.memory.BufferMemory;
import io.crail.memory.BufferPool;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** A tier must recognize reused memory, or each stream would register it again. */
class SliceMemoryTest {
  @Test
  void allSlicesAreCutFromWhatThePoolHasAllocated() throws Exception {
    try (BufferPool pool = new BufferPool(1 << 16, 1 << 20)) {
      CrailBuffer lent = pool.allocateBuffer();
      ByteBuffer root = BufferMemory.rootOf(lent);
      pool.freeBuffer(lent);
      for (int stream = 0; stream < 3; stream++) {
        try (SliceMemory memory = new SliceMemory(pool, 1 << 14, 10)) {
          for (int i = 0; i < 10; i++) {
            assertSame(root, memory.rootOf(memory.take()));
          }
        }
      }
    }
  }

  @Test
  void viewsOfAUsersBufferAreCutFromIt() {
    ByteBuffer own = ByteBuffer.allocateDirect(100);
    assertSame(own, BufferMemory.rootOf(OffHeapBuffer.wrap(own)));
    CrailBuffer view = OffHeapBuffer.wrap(own).position(10).limit(20);
    assertSame(own, BufferMemory.rootOf(view.slice().slice()));
  }
}
