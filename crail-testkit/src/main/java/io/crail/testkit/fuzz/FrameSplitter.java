/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Predicate;

/**
 * Splits what is sent into frames as a server does: what is missing of a frame is taken from the
 * bytes that come next. Used by one thread.
 */
final class FrameSplitter {
  private byte[] begun = new byte[0];

  /**
   * Adds bytes if a test passes for each frame that they complete, continue or begin. The test sees
   * as much of a frame as there is, its header at least.
   *
   * @return whether the bytes were added
   */
  boolean add(byte[] bytes, Predicate<byte[]> test) {
    byte[] all = Arrays.copyOf(begun, begun.length + bytes.length);
    System.arraycopy(bytes, 0, all, begun.length, bytes.length);
    ByteBuffer buffer = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (all.length - at >= Frame.HEADER_LENGTH) {
      // A server ends a connection for a shorter length.
      long length = Math.max(Frame.HEADER_LENGTH, Frame.length(buffer, at));
      int present = (int) Math.min(length, all.length - at);
      if (!test.test(Arrays.copyOfRange(all, at, at + present))) {
        return false;
      }
      if (present < length) {
        break;
      }
      at += present;
    }
    begun = Arrays.copyOfRange(all, at, all.length);
    return true;
  }
}
