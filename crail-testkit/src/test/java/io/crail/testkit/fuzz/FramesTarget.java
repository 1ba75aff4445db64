/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.Session;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Frames one after the other, split as a receiver does. The check of a header must not depend on
 * how much of it has arrived, and the body of a valid frame must lie where the header says.
 *
 * <pre>[1: answers][u16 most bytes of a frame][stream ...]</pre>
 */
final class FramesTarget implements Target {
  private static final int REFUSED = -2;

  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    int kind = input.u8() & 1;
    int most = input.u16();
    ByteBuffer stream = input.restBuffer();
    RequestBatch batch = new RequestBatch(new Session("a fuzzer"));
    batch.reset(stream);
    int at = 0;
    int length = check(stream, 0, stream.capacity(), kind, most);
    while (length >= 0 && !batch.isFull()) {
      Require.that(length >= Frame.HEADER_LENGTH && length <= most, "a frame of " + length);
      Require.that(at + length <= stream.capacity(), "a frame that has not arrived");
      batch.add(at, length);
      int last = batch.count() - 1;
      Require.equal(at + Frame.HEADER_LENGTH, batch.bodyOffset(last), "body");
      Require.equal(length - Frame.HEADER_LENGTH, batch.bodyLength(last), "body's length");
      ByteBuffer again = ByteBuffer.allocate(Frame.HEADER_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(again, 0, length, batch.opcode(last), kind, batch.correlationId(last));
      Require.equal(stream.slice(at, Frame.HEADER_LENGTH), again, "header");
      at += length;
      length = check(stream, at, stream.capacity() - at, kind, most);
    }
  }

  /**
   * Checks a frame while its bytes come one by one. Returns the result of {@link Frame#check} for
   * all bytes.
   */
  private static int check(ByteBuffer stream, int at, int available, int kind, int most) {
    int verdict = checkOnce(stream, at, available, kind, most);
    for (int some = 0; some <= Math.min(available, Frame.HEADER_LENGTH); some++) {
      int early = checkOnce(stream, at, some, kind, most);
      boolean agrees = early == verdict || early == -1 && (verdict >= 0 || some < 8);
      Require.that(agrees, "after " + some + " bytes " + early + ", after all " + verdict);
    }
    return verdict;
  }

  private static int checkOnce(ByteBuffer stream, int at, int available, int kind, int most) {
    try {
      return Frame.check(stream, at, available, kind, most);
    } catch (CrailException e) {
      Require.equal(ErrorCode.PROTOCOL, e.code(), "refusal");
      return REFUSED;
    }
  }

  @Override
  public List<byte[]> seeds() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {0, 0, 4});
    for (byte[] message : Golden.messages().values().stream().limit(6).toList()) {
      out.writeBytes(frame(NameNodeOperations.LOOKUP.number(), Frame.KIND_REQUEST, message));
    }
    byte[] answer = frame(0, Frame.KIND_RESPONSE, new byte[3]);
    ByteArrayOutputStream answers = new ByteArrayOutputStream();
    answers.writeBytes(new byte[] {1, 0, 4});
    answers.writeBytes(answer);
    answers.writeBytes(answer);
    return List.of(out.toByteArray(), answers.toByteArray());
  }

  /** Makes a frame. */
  static byte[] frame(int code, int kind, byte[] body) {
    ByteBuffer frame =
        ByteBuffer.allocate(Frame.HEADER_LENGTH + body.length).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(frame, 0, frame.capacity(), code, kind, 0x0102030405060708L);
    return frame.put(Frame.HEADER_LENGTH, body).array();
  }
}
