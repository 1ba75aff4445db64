/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class FrameSplitterTest {
  private final FrameSplitter splitter = new FrameSplitter();
  private final List<Integer> seen = new ArrayList<>();

  /** A frame whose last byte is its number. */
  private static byte[] frame(int length, int number) {
    byte[] frame = new byte[length];
    ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(buffer, 0, length, 1, Frame.KIND_REQUEST, number);
    frame[length - 1] = (byte) number;
    return frame;
  }

  private boolean add(byte[] bytes) {
    seen.clear();
    return splitter.add(
        bytes,
        frame -> {
          seen.add(frame.length);
          return frame[frame.length - 1] != 13;
        });
  }

  @Test
  void framesAreSeenWhole() {
    assertTrue(add(frame(20, 1)));
    assertTrue(add(frame(16, 2)));
    assertEquals(List.of(16), seen);
  }

  @Test
  void theRestOfACutFrameComesFromTheNext() {
    assertTrue(add(Arrays.copyOf(frame(40, 1), 24)));
    assertEquals(List.of(24), seen);
    // Its first 16 bytes end the first frame. Its last 4 begin another, very long one.
    assertTrue(add(frame(20, 2)));
    assertEquals(List.of(40), seen);
    assertTrue(add(new byte[12]));
    assertEquals(List.of(16), seen);
  }

  @Test
  void everyFrameOfSeveralIsSeen() {
    byte[] both = Arrays.copyOf(frame(20, 1), 36);
    System.arraycopy(frame(16, 2), 0, both, 20, 16);
    assertTrue(add(both));
    assertEquals(List.of(20, 16), seen);
  }

  @Test
  void aLengthBelowThatOfAHeaderCountsAsAHeader() {
    byte[] tooShort = frame(20, 1);
    ByteBuffer.wrap(tooShort).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 3);
    assertTrue(add(tooShort));
    assertEquals(List.of(16), seen);
  }

  @Test
  void failingInputsAreNotAdded() {
    assertTrue(add(Arrays.copyOf(frame(30, 1), 29)));
    assertFalse(add(new byte[] {13}));
    assertEquals(List.of(30), seen);
    assertTrue(add(new byte[] {7}));
    assertFalse(add(frame(30, 13)));
    assertTrue(add(frame(30, 14)));
    assertEquals(List.of(30), seen);
  }
}
