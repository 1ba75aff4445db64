/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.HeldMemory;
import io.crail.rpc.netty.RetargetableBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * The answers of a connection that go to the client. They are written into memory of the event loop
 * and given to the channel piece by piece; the memory comes back when the socket has taken the
 * bytes. Counts the memory that is held for a client that takes nothing. Used only by the thread of
 * the loop.
 */
final class AnswerOutput {
  /** Most bytes of answers before they are flushed. */
  private static final int MOST_UNFLUSHED = 256 * 1024;

  private final HeldMemory.Holder holder;
  private ChannelHandlerContext context;
  private DatanodeLoop loop;
  private boolean closed;

  // Answers that were not handed to the channel yet.
  private DataAnswers out;

  // Answers that were handed to the channel, which has not sent them all.
  private final ArrayDeque<DataAnswers> handedOver = new ArrayDeque<>(4);
  private long handedOverBytes;

  // What the loop knows of them.
  private long heldBytes;
  private long unflushedBytes;

  /**
   * Creates an output without a channel.
   *
   * @param holder under which the loop counts the memory held
   */
  AnswerOutput(HeldMemory.Holder holder) {
    this.holder = holder;
  }

  /** Begins, on a channel of a loop. */
  void open(ChannelHandlerContext newContext, DatanodeLoop newLoop) {
    context = newContext;
    loop = newLoop;
  }

  /** Sends nothing any more. */
  void close() {
    closed = true;
  }

  /** The channel no longer uses any memory of this. */
  void release() {
    closed = true;
    if (out != null) {
      loop.giveBack(out);
      out = null;
    }
    giveAllBack();
  }

  /** Makes room for a frame; returns where its body begins in {@link #bytes}. */
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

  /** The memory into which the present frame is written. */
  ByteBuffer bytes() {
    return out.bytes();
  }

  /** Ends a frame whose body is written. */
  void end(ErrorCode code, int bodyLength, long correlationId) {
    int frameLength = Frame.HEADER_LENGTH + bodyLength;
    head(code, frameLength, correlationId);
    out.add(frameLength);
    if (code != ErrorCode.OK) {
      loop.hasRefused(code);
    }
  }

  /**
   * Ends the part of a frame before its data, and gives it to the channel with all earlier answers.
   */
  void endHead(int headLength, int dataLength, long correlationId) {
    head(ErrorCode.OK, headLength + dataLength, correlationId);
    out.add(headLength);
    handOver();
  }

  private void head(ErrorCode code, int frameLength, long correlationId) {
    Frame.write(
        out.bytes(), out.length(), frameLength, code.number(), Frame.KIND_RESPONSE, correlationId);
  }

  /** Writes an error as the answer. It replaces an answer that was begun and not ended. */
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
    handedOverBytes += answers.bytes().capacity();
    context.write(answers.toSend(), context.voidPromise());
    unflushedBytes += answers.bytes().capacity();
    if (unflushedBytes > MOST_UNFLUSHED) {
      // So that the bytes that the peer does not take are known while answers are made.
      unflushedBytes = 0;
      context.flush();
      giveBack();
    }
  }

  /** Sends data after what was given to the channel. */
  void send(RetargetableBuf data) {
    context.writeAndFlush(data.retain(), context.voidPromise());
    giveBack();
  }

  /** True while the channel is connected. */
  boolean isActive() {
    return context.channel().isActive();
  }

  /** Sends all answers now. */
  void flush() {
    if (out != null && !closed) {
      handOver();
      context.flush();
    }
    unflushedBytes = 0;
    giveBack();
  }

  /** Reuses the memory whose bytes the socket has taken. */
  void giveBack() {
    while (!handedOver.isEmpty() && handedOver.peekFirst().isUnshared()) {
      DataAnswers sent = handedOver.pollFirst();
      handedOverBytes -= sent.bytes().capacity();
      loop.giveBack(sent);
    }
    countHeld();
  }

  /** Memory that was handed to the channel is freed when the channel releases it. */
  void giveAllBack() {
    handedOver.forEach(loop::giveBack);
    handedOver.clear();
    handedOverBytes = 0;
    countHeld();
  }

  /** Reports to the loop how much memory is held for the peer. */
  private void countHeld() {
    long change = handedOverBytes - heldBytes;
    if (change != 0) {
      heldBytes = handedOverBytes;
      loop.held().count(holder, heldBytes, change);
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
