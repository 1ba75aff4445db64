/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.RetargetableBuf;
import io.crail.storage.host.HostedRegions;
import java.nio.ByteBuffer;

/**
 * The read that a connection serves. A small read is copied into the answers. A large read leaves
 * straight from its region; after its last byte, a second answer says whether all bytes belonged to
 * the generation. Used only by the thread of the connection's event loop.
 */
final class LeavingRead {
  private static final int HEAD = ReadData.Response.LAYOUT.fixedLength();

  private final AnswerOutput output;
  private final Runnable whenSent;
  private final Payload payload = new Payload();
  private final PieceOfRegion piece = new PieceOfRegion();
  private int length;
  private long generation;
  private long correlationId;
  private boolean sending;
  private ErrorCode sent;

  /**
   * Creates an idle one.
   *
   * @param whenSent called in the middle of a write to the channel, when {@link #isSending} ends
   */
  LeavingRead(AnswerOutput output, Runnable whenSent) {
    this.output = output;
    this.whenSent = whenSent;
  }

  /**
   * Serves a read.
   *
   * @param bytes hold the checked body of its request at {@code body}
   * @return the bytes that it gets, 0 when it is refused
   * @throws CrailException with PROTOCOL for a length that no client asks for
   */
  int serve(HostedRegions regions, ByteBuffer bytes, int body, long id) throws CrailException {
    length = bytes.getInt(body + ReadData.Request.LENGTH);
    if (length < 1 || length > DataNodeOperations.MAX_DATA_LENGTH) {
      throw ErrorCode.PROTOCOL.exception("a read of " + length + " bytes");
    }
    correlationId = id;
    long offset = bytes.getLong(body + ReadData.Request.REGION_OFFSET);
    int index = bytes.getInt(body + ReadData.Request.REGION);
    generation = bytes.getLong(body + ReadData.Request.GENERATION);
    ErrorCode code = piece.locate(regions, index, offset, length);
    if (code == ErrorCode.OK) {
      code = piece.generations().verify(piece.offset(), length, generation);
    }
    if (code == ErrorCode.OK && length > DataNodeOperations.LARGEST_COPIED_READ) {
      sendOut();
    } else if (code == ErrorCode.OK) {
      code = copyOut();
    }
    if (code != ErrorCode.OK) {
      output.fail(
          code,
          length + " bytes at " + offset + " of region " + index + ", generation " + generation,
          correlationId);
      return 0;
    }
    return length;
  }

  private ErrorCode copyOut() {
    int body = output.begin(HEAD + length);
    ErrorCode code =
        piece.region().read(piece.offset(), output.bytes(), body + HEAD, length, generation);
    // Otherwise the frame is not ended, and an error replaces the data.
    if (code == ErrorCode.OK) {
      ReadData.Response.encodeFields(output.bytes(), body, length, false);
      output.end(ErrorCode.OK, HEAD + length, correlationId);
    }
    return code;
  }

  private void sendOut() {
    int body = output.begin(HEAD);
    ReadData.Response.encodeFields(output.bytes(), body, length, true);
    output.endHead(Frame.HEADER_LENGTH + HEAD, length, correlationId);
    sending = true;
    payload.toSend(piece.view(), piece.offset(), length);
    output.send(payload);
  }

  /** The data of a large read have left, or the connection is being closed. */
  private void dataSent() {
    if (sending && output.isActive()) {
      sending = false;
      sent = piece.generations().verifyAfter(piece.offset(), length, generation);
      whenSent.run();
    }
  }

  /** True while data leave. Nothing else is answered during that. */
  boolean isSending() {
    return sending;
  }

  /**
   * Reports to the client, once after the data of a large read, whether they were good; false when
   * there is nothing to report.
   */
  boolean sayVerdict() {
    if (sent == null) {
      return false;
    }
    output.begin(0);
    output.end(sent, 0, correlationId);
    sent = null;
    return true;
  }

  /** Drops the reference to the region's memory. */
  void letGo() {
    piece.letGo();
    payload.letGo();
  }

  /** The data of a large read. Reports when the channel has finished with them. */
  private final class Payload extends RetargetableBuf {
    @Override
    public boolean release() {
      boolean freed = super.release();
      if (isIdle()) {
        dataSent();
      }
      return freed;
    }
  }
}
