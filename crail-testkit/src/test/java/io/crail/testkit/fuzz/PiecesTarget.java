/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.darpc.DarpcDoor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages over RDMA. The same frames must come out of a stream, however it is cut. Whatever a peer
 * says about credits, the account must stay within the limits of both ends.
 *
 * <pre>[1: frames go over messages, 2: pause after each][cuts: 8 bytes][stream ...]</pre>
 */
final class PiecesTarget implements Target {
  private static final int CUTS = 8;
  private static final int RECEIVES = 16;

  /** The frames, and how the stream ends. */
  private record End(List<byte[]> frames, boolean refused, boolean partial) {}

  @Override
  public void run(byte[] bytes) throws IOException {
    Input input = new Input(bytes);
    int flags = input.u8();
    byte[] cuts = input.take(CUTS);
    ByteBuffer stream = input.restBuffer();
    checkCredits(new Input(bytes));
    boolean spans = (flags & 1) != 0;
    boolean pauses = (flags & 2) != 0;
    End whole = whole(stream);
    End pieces = inPieces(stream, cuts, spans, pauses);
    if (spans) {
      Require.equal(whole.frames.size(), pieces.frames.size(), "frames");
      Require.equal(whole.refused, pieces.refused, "refusal");
      Require.that(pieces.refused || whole.partial == pieces.partial, "a frame that has begun");
    } else {
      Require.that(pieces.frames.size() <= whole.frames.size(), "frames from nowhere");
    }
    for (int i = 0; i < pieces.frames.size(); i++) {
      Require.equal(
          ByteBuffer.wrap(whole.frames.get(i)), ByteBuffer.wrap(pieces.frames.get(i)), "frame");
    }
  }

  /** The frames of the uncut stream. */
  private static End whole(ByteBuffer stream) {
    List<byte[]> frames = new ArrayList<>();
    int at = 0;
    try {
      while (true) {
        int left = stream.capacity() - at;
        int length = Frame.check(stream, at, left, Frame.KIND_REQUEST, Frame.MAX_LENGTH);
        if (length < 0) {
          return new End(frames, false, left > 0);
        }
        byte[] frame = new byte[length];
        stream.get(at, frame);
        frames.add(frame);
        at += length;
      }
    } catch (CrailException e) {
      return new End(frames, true, false);
    }
  }

  private static End inPieces(ByteBuffer stream, byte[] cuts, boolean spans, boolean pauses)
      throws IOException {
    DarpcDoor.Pieces pieces = new DarpcDoor.Pieces(spans);
    try {
      int at = 0;
      for (int i = 0; at < stream.capacity(); i++) {
        int cut = cuts.length == 0 ? 0 : cuts[i % cuts.length] & 0xff;
        int end = cut == 0 ? stream.capacity() : Math.min(stream.capacity(), at + cut);
        // The receiver may decline a reassembled frame once. Then nothing may be taken.
        int least = pauses ? 0 : 1;
        while (at < end) {
          int taken = pieces.take(stream, at, end - at, pauses);
          Require.that(taken >= least && taken <= end - at, "takes " + taken + " of " + (end - at));
          least = pauses && taken > 0 ? 0 : 1;
          at += taken;
        }
      }
      return new End(pieces.frames(), false, pieces.isPartial());
    } catch (CrailException e) {
      Require.equal(ErrorCode.PROTOCOL, e.code(), "refusal");
      return new End(pieces.frames(), true, false);
    } finally {
      pieces.close();
      Require.equal(0, pieces.used(), "memory that was not given back");
    }
  }

  /** One side is honest; the input decides what the other side sends. */
  private static void checkCredits(Input input) {
    DarpcDoor.Account account = new DarpcDoor.Account(RECEIVES, RECEIVES);
    int sent = 0;
    int returned = 0;
    int toReturn = 0;
    while (input.left() > 0) {
      int what = input.u8();
      if (what < 0x60) {
        if (account.room() > 0 || account.owes()) {
          Require.equal(toReturn, account.send(), "returns");
          toReturn = 0;
          sent++;
        }
      } else if (what < 0xa0) {
        account.posted(1);
        toReturn++;
      } else {
        int says = what < 0xf0 ? what & 0x0f : input.i32();
        try {
          account.received(says);
          Require.that(says >= 0 && says <= sent - returned, "believes " + says);
          returned += says;
        } catch (CrailException e) {
          Require.equal(ErrorCode.PROTOCOL, e.code(), "refusal");
          Require.that(says < 0 || says > sent - returned, "refuses " + says);
        }
      }
      int credits = RECEIVES - sent + returned;
      Require.equal(Math.max(0, credits - 1), account.room(), "room");
    }
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    for (int flags = 0; flags < 4; flags++) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes(new byte[] {(byte) flags, 20, 1, 7, 0, 3, 16, 0, 0});
      for (int length = 0; length < 60; length += 19) {
        out.writeBytes(FramesTarget.frame(3, Frame.KIND_REQUEST, new byte[length]));
      }
      seeds.add(out.toByteArray());
    }
    return seeds;
  }
}
