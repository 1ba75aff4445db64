/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.range;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailResult;
import io.crail.memory.BufferPool;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** An interrupt does not give the caller's memory back while a read may still fill it. */
class PositionedReaderTest {
  private static final byte FILLED = 7;

  private final ByteBuffer target = ByteBuffer.allocateDirect(1);

  private final PositionedReader reader =
      new PositionedReader(
          (CrailFile)
              Proxy.newProxyInstance(
                  CrailFile.class.getClassLoader(),
                  new Class<?>[] {CrailFile.class},
                  (file, method, arguments) -> {
                    assertEquals("getDirectInputStream", method.getName());
                    return new SlowStream();
                  }));

  /** A read that fills the buffer after the first wait for it was interrupted. */
  private static final class SlowRead extends CompletableFuture<CrailResult> {
    private final ByteBuffer memory;
    private boolean interrupted;

    SlowRead(ByteBuffer memory) {
      this.memory = memory;
    }

    @Override
    public CrailResult get() throws InterruptedException {
      if (!interrupted) {
        interrupted = true;
        throw new InterruptedException();
      }
      memory.put(0, FILLED);
      return () -> 1;
    }
  }

  /** A stream of slow reads. */
  private static final class SlowStream implements CrailInputStream {
    @Override
    public CrailNode getFile() {
      throw new AssertionError();
    }

    @Override
    public Future<CrailResult> read(CrailBuffer buffer) throws Exception {
      return new SlowRead(buffer.getByteBuffer());
    }

    @Override
    public void seek(long position) {}

    @Override
    public int available() {
      return 1;
    }

    @Override
    public long position() {
      return 0;
    }

    @Override
    public void close() {}
  }

  @Test
  void anInterruptedReadIsWaitedFor() throws Exception {
    assertEquals(1, reader.read(0, target));
    assertTrue(Thread.interrupted(), "the interrupt is kept");
    assertEquals(FILLED, target.get(0));
  }

  @Test
  void anInterruptedRangeIsWaitedFor() throws Exception {
    try (RangeReader ranges = new RangeReader(new BufferPool(1, 0), 0)) {
      RangeRead range = ranges.begin(reader, 0, target);
      assertSame(target, range.get());
      assertTrue(Thread.interrupted(), "the interrupt is kept");
      assertEquals(FILLED, target.get(0));
    }
  }
}
