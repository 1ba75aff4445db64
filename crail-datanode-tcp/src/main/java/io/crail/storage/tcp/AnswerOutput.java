/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.HeldMemory;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * The answers of a connection on their way to the client: written into memory of the event loop,
 * given to the channel piece by piece, and taken back when the socket has them. Counts what is held
 * for a client that takes nothing. Used only by the thread of the loop.
 */
final class AnswerOutput {
  /** With more memory of answers they are flushed before there are more. */
  private static final int MOST_UNFLUSHED = 256 * 1024;

  private final HeldMemory.Holder holder;
  private ChannelHandlerContext context;
  private DatanodeLoop loop;
  private boolean closed;

  // What was not handed to the channel yet.
  private DataAnswers out;

  // Handed to the channel, which has not taken them all.
  private final ArrayDeque<DataAnswers> handedOver = new ArrayDeque<>(4);
  private long heldBytes;
  private long unflushedBytes;

  /**
   * Creates an output without a channel.
   *
   * @param holder by whom the loop counts what is held
   */
  AnswerOutput(HeldMemory.Holder holder) {
    this.holder = holder;
  }

  /** Begins, on a channel of a loop. */
  void open(ChannelHandlerContext newContext, DatanodeLoop newLoop) {
    context = newContext;
    loop = newLoop;
  }

  /** Nothing leaves any more. */
  void close() {
    closed = true;
  }

  /** The channel has let go of everything. */
  void release() {
    closed = true;
    if (out != null) {
      loop.giveBack(out);
      out = null;
    }
    giveAllBack();
  }

  /** Makes room for a frame; gives where its body begins in {@link #bytes}. */
  int begin(int bodyLength) {
    int needed = Frame.HEADER_LENGTH + bodyLength;
    if (out != null && out.room() < needed) {
      handOver();
    }
    if (out == null) {
      out = loop.take(needed);
    }
    return out.length() + Frame.HEADER_LENGTH;
  }

  /** Where the frame is written that was begun. */
  ByteBuffer bytes() {
    return out.bytes();
  }

  /** Ends a frame, whose body is written. */
  void end(ErrorCode code, int bodyLength, long correlationId) {
    int frameLength = Frame.HEADER_LENGTH + bodyLength;
    head(code, frameLength, correlationId);
    out.add(frameLength);
  }

  /** Ends what stands before the data of a frame, and gives it to the channel with all before. */
  void endHead(int headLength, int dataLength, long correlationId) {
    head(ErrorCode.OK, headLength + dataLength, correlationId);
    out.add(headLength);
    handOver();
  }

  private void head(ErrorCode code, int frameLength, long correlationId) {
    Frame.write(
        out.bytes(), out.length(), frameLength, code.number(), Frame.KIND_RESPONSE, correlationId);
  }

  /** Writes an answer that is an error; takes the place of one that was begun and not ended. */
  void fail(ErrorCode code, String detail, long correlationId) {
    byte[] text = detail.getBytes(StandardCharsets.UTF_8);
    int textLength = Math.min(text.length, Frame.MAX_DETAIL_LENGTH);
    int body = begin(textLength);
    out.bytes().put(body, text, 0, textLength);
    end(code, textLength, correlationId);
  }

  /** Gives the answers to the channel, which sends them with the next flush. */
  private void handOver() {
    DataAnswers answers = out;
    out = null;
    if (closed) {
      loop.giveBack(answers);
      return;
    }
    handedOver.addLast(answers);
    context.write(answers.toSend(), context.voidPromise());
    unflushedBytes += answers.bytes().capacity();
    if (unflushedBytes > MOST_UNFLUSHED) {
      // So that what the peer does not take is known while answers are made.
      unflushedBytes = 0;
      context.flush();
      giveBack();
    }
  }

  /** Sends data after what was given to the channel. */
  void send(Window data) {
    context.writeAndFlush(data.retain(), context.voidPromise());
    giveBack();
  }

  /** True while the channel is connected. */
  boolean isActive() {
    return context.channel().isActive();
  }

  /** Has all that was answered leave. */
  void flush() {
    if (out != null && !closed) {
      handOver();
      context.flush();
    }
    unflushedBytes = 0;
    giveBack();
  }

  /** What the socket has taken is used again. */
  void giveBack() {
    while (!handedOver.isEmpty() && handedOver.peekFirst().isUnshared()) {
      loop.giveBack(handedOver.pollFirst());
    }
    countHeld();
  }

  /** What was handed to the channel goes when that has let go of it. */
  void giveAllBack() {
    handedOver.forEach(loop::giveBack);
    handedOver.clear();
    countHeld();
  }

  /** Tells the loop what is held for the peer. */
  private void countHeld() {
    long now = 0;
    for (DataAnswers answers : handedOver) {
      now += answers.bytes().capacity();
    }
    long change = now - heldBytes;
    if (change != 0) {
      heldBytes = now;
      loop.held().count(holder, now, change);
    }
  }

  /** Bytes that are held for the peer. */
  long heldBytes() {
    return heldBytes;
  }

  /** True when there may be more answers than the peer has taken. */
  boolean mayHoldMore() {
    if (loop.mayHoldMore(heldBytes)) {
      return true;
    }
    giveBack();
    return loop.mayHoldMore(heldBytes);
  }

  /** Bytes that the socket has not taken. */
  long untakenBytes() {
    ChannelOutboundBuffer buffer = context.channel().unsafe().outboundBuffer();
    return buffer == null ? 0 : buffer.totalPendingWriteBytes() - buffer.currentProgress();
  }
}
