/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a receive buffer whose channel gets it some time before the bytes come, as io_uring does.
 */
class ReceiveBufferTest {
  private static final int CAPACITY = 16;

  private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
  private final Chunk.Pool pool = new Chunk.Pool(memory, CAPACITY, 1);
  private final ReceiveBuffer input = new ReceiveBuffer(pool);
  private final RecvByteBufAllocator.ExtendedHandle handle =
      (RecvByteBufAllocator.ExtendedHandle) input.newHandle();

  @AfterEach
  void leaksNothing() {
    input.close();
    pool.close();
    assertEquals(0, memory.metric().usedDirectMemory());
  }

  private ByteBuf begin() {
    return handle.allocate(memory);
  }

  private void end(ByteBuf read, int at, String bytes) {
    // Where the kernel may write since the read began.
    read.setCharSequence(at, bytes, StandardCharsets.US_ASCII);
    read.writerIndex(read.writerIndex() + bytes.length());
    input.received(read);
  }

  private String text() {
    byte[] bytes = new byte[input.length()];
    input.view().get(input.start(), bytes);
    return new String(bytes, StandardCharsets.US_ASCII);
  }

  @Test
  void keepsItsBytesWhereTheyAreDuringARead() {
    ByteBuf first = begin();
    end(first, first.writerIndex(), "abcdef");
    ByteBuf second = begin();
    int at = second.writerIndex();
    input.drop(4);
    end(second, at, "ghi");
    assertEquals("efghi", text());
    // The next read has all the room that there is.
    ByteBuf third = begin();
    assertEquals(CAPACITY - 5, third.writableBytes());
    end(third, third.writerIndex(), "jklmnopqrst");
    assertEquals("efghijklmnopqrst", text());
  }

  @Test
  void keepsItsChunkDuringARead() {
    ByteBuf first = begin();
    end(first, first.writerIndex(), "abc");
    ByteBuf second = begin();
    int at = second.writerIndex();
    input.drop(3);
    input.giveBackIfEmpty();
    assertEquals(CAPACITY, input.heldBytes());
    end(second, at, "def");
    assertEquals("def", text());
    input.drop(3);
    input.giveBackIfEmpty();
    assertEquals(0, input.heldBytes());
  }

  @Test
  void givesBackAfterAReadThatWasCancelled() {
    ByteBuf first = begin();
    end(first, first.writerIndex(), "abc");
    ByteBuf second = begin();
    input.drop(3);
    second.release();
    input.giveBackIfEmpty();
    assertEquals(0, input.heldBytes());
  }

  @Test
  void takesNoBytesAfterItsEnd() {
    ByteBuf first = begin();
    end(first, first.writerIndex(), "abc");
    ByteBuf second = begin();
    input.close();
    assertThrows(IllegalStateException.class, () -> input.received(second));
    second.release();
  }
}
