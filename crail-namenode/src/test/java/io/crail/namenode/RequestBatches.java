/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import com.sun.management.ThreadMXBean;
import io.crail.protocol.Operation;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.function.Executable;

/** Helps tests that serve requests in place, and counts what that allocates. */
final class RequestBatches {
  private static final int ROUNDS = 50;

  private RequestBatches() {}

  /** Memory for requests or answers. */
  static ByteBuffer memory(int length) {
    return ByteBuffer.allocateDirect(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes a request into memory and adds it to a batch there; gives where the next one goes. */
  static <Q> int add(
      RequestBatch batch, ByteBuffer in, int offset, Operation<Q, ?> operation, Q request) {
    int length = Frame.HEADER_LENGTH + operation.request().length(request);
    Frame.write(in, offset, length, operation.number(), Frame.KIND_REQUEST, offset);
    operation.request().encode(request, in, offset + Frame.HEADER_LENGTH);
    batch.add(offset, length);
    return offset + length;
  }

  /** Takes answers and forgets them. */
  static ResponseWriter forgetting() {
    ByteBuffer out = memory(1 << 20);
    return new ResponseWriter() {
      @Override
      protected ByteBuffer nextBuffer(int written, int needed) {
        detach();
        return out;
      }
    };
  }

  /**
   * The least that a round of many has allocated in this thread: what is compiled, or grows, now
   * and then is in other rounds.
   */
  static long leastAllocated(Executable round) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long before = threads.getThreadAllocatedBytes(self);
      try {
        round.execute();
      } catch (Exception | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new AssertionError(e);
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(self) - before);
    }
    return least;
  }
}
