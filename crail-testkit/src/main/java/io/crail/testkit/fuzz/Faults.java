/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.protocol.Operation;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Puts faults into recorded sessions. Frames are repeated, left out, exchanged, cut, extended, or
 * mixed with frames of another session. Lengths, operations and correlation ids are changed. Fields
 * get bad values, with the help of the layouts. Not thread-safe.
 */
final class Faults {
  /** Most changes in a session. */
  private static final int MOST = 8;

  private final Map<Integer, Operation<?, ?>> table;
  private final Choices choices;
  private final Hostile hostile;

  Faults(Map<Integer, Operation<?, ?>> table, Choices choices, Hostile hostile) {
    this.table = table;
    this.choices = choices;
    this.hostile = hostile;
  }

  /**
   * Remembers the numbers in a session's requests. In another session they are another client's ids
   * and tokens.
   */
  void learn(List<byte[]> session) {
    for (byte[] frame : session) {
      ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
      Operation<?, ?> operation = table.get(Frame.code(buffer, 0));
      if (operation != null) {
        learn(operation.request(), buffer);
      }
    }
  }

  private void learn(Codec<?> codec, ByteBuffer frame) {
    try {
      hostile.remember(
          codec.decode(frame, Frame.HEADER_LENGTH, frame.capacity() - Frame.HEADER_LENGTH));
    } catch (CrailException e) {
      throw new AssertionError("an honest request", e);
    }
  }

  /** Returns the session with faults. Its handshake is mostly left unchanged. */
  List<byte[]> put(List<byte[]> session, List<byte[]> another) {
    List<byte[]> frames = new ArrayList<>();
    if (choices.below(8) == 0) {
      mix(session, another, frames);
    } else {
      frames.addAll(session);
    }
    for (int i = choices.below(MOST); i >= 0 && !frames.isEmpty(); i--) {
      int first = choices.below(16) == 0 ? 0 : 1;
      if (frames.size() > first) {
        put(frames, first + choices.below(frames.size() - first));
      }
    }
    return frames;
  }

  /** The frames of both sessions, each in its order, after one handshake. */
  private void mix(List<byte[]> session, List<byte[]> another, List<byte[]> frames) {
    int mine = 0;
    int others = 1;
    while (mine < session.size() || others < another.size()) {
      if (mine == 0 || others >= another.size() || mine < session.size() && choices.below(2) == 0) {
        frames.add(session.get(mine++));
      } else {
        frames.add(another.get(others++));
      }
    }
  }

  private void put(List<byte[]> frames, int at) {
    byte[] frame = frames.get(at).clone();
    ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    boolean isWhole = frame.length >= Frame.HEADER_LENGTH;
    switch (choices.below(isWhole ? 14 : 3)) {
      case 0 -> frames.add(choices.below(frames.size() + 1), frame);
      case 1 -> frames.remove(at);
      case 2 -> frames.set(at, frames.set(choices.below(frames.size()), frame));
      case 3 -> frames.set(at, resized(frame, choices.below(frame.length + 1)));
      case 4 -> frames.set(at, Arrays.copyOf(frame, choices.below(frame.length + 1)));
      case 5 -> frames.set(at, resized(frame, frame.length + choices.below(300)));
      case 6 -> {
        buffer.putInt(0, (int) hostile.number(Integer.BYTES));
        frames.set(at, frame);
      }
      case 7 -> {
        buffer.putShort(4, (short) choices.below(table.size() + 3));
        frames.set(at, frame);
      }
      case 8 -> {
        buffer.putLong(8, hostile.number(Long.BYTES));
        frames.set(at, frame);
      }
      case 9 -> {
        frame[choices.below(frame.length)] = (byte) choices.below(256);
        frames.set(at, frame);
      }
      default -> {
        Operation<?, ?> operation = table.get(Frame.code(buffer, 0));
        if (operation != null) {
          frames.set(at, field(operation.request().layout(), frame));
        }
      }
    }
  }

  private static byte[] resized(byte[] frame, int length) {
    byte[] resized = Arrays.copyOf(frame, length);
    if (length >= Integer.BYTES) {
      ByteBuffer.wrap(resized).order(ByteOrder.LITTLE_ENDIAN).putInt(0, length);
    }
    return resized;
  }

  /** Returns the frame with another value in one of its fields, or with a new message. */
  private byte[] field(Layout layout, byte[] frame) {
    int fields = layout.fields().size();
    if (fields == 0 || choices.below(6) == 0) {
      byte[] body = hostile.make(layout);
      byte[] made = resized(frame, Frame.HEADER_LENGTH + body.length);
      System.arraycopy(body, 0, made, Frame.HEADER_LENGTH, body.length);
      return made;
    }
    Layout.Field field = layout.fields().get(choices.below(fields));
    ByteBuffer body = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    if (Frame.HEADER_LENGTH + field.offset() + field.width() <= frame.length) {
      hostile.fill(body, Frame.HEADER_LENGTH + field.offset(), field.width());
    }
    return frame;
  }
}
