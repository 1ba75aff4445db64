/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.rpc.Frame;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A server's end of a connection: the whole frames of a read go to the service, {@link
 * RequestBatch#TOGETHER} at a time, and the responses of a batch leave with one write. A peer that
 * does not take its responses is not served until it does. A peer that sends many requests takes
 * turns with other connections.
 */
final class ServerConnection extends ChannelInboundHandlerAdapter implements HeldMemory.Holder {
  /** After this many bytes of requests, a connection checks whether others come first. */
  private static final int BATCH_BYTES = 16 * 1024;

  /** The server that a connection belongs to. Thread-safe. */
  interface Owner {
    Service service();

    Clock clock();

    /** The most bytes of answers that a connection keeps for a peer that does not take them. */
    long outputLimit();

    long handshakeTimeoutNanos();

    long stallTimeoutNanos();

    /** Counts and reports a connection that was not closed by its peer. */
    void dropped(String peer, CloseReason why, String detail);

    /** Reports a bug of the service. */
    void failed(String peer, Throwable cause);

    /** Counts the end of a connection. */
    void connectionClosed();
  }

  private enum State {
    /** Incoming requests are served. */
    SERVING,
    /** Requests or held answers wait for their turn. */
    QUEUED,
    /** Requests wait until the peer takes answers, or until held answers leave. */
    BLOCKED
  }

  private final Owner server;
  private final ServerLoop loop;
  private final ReceiveBuffer input;
  private final SendBuffer output;
  private final HeldAnswers.OfConnection held;
  private final Responses responses;
  private final ServerLoop.Member member =
      new ServerLoop.Member() {
        @Override
        protected void serve() {
          resume();
        }

        @Override
        void sweep(long nowNanos) {
          checkDeadlines(nowNanos);
        }
      };

  private ChannelHandlerContext context;
  private Session session;
  private State state = State.SERVING;
  private boolean serving;
  private boolean closed;

  /** The request at the front waits for an answer that another connection holds. */
  private boolean waitsForAnswer;

  private long servedBytes;
  private long sweptBytes;
  private long partialSinceNanos;
  private long openedNanos;
  private long untakenBytes;
  private long untakenSinceNanos;
  private long heldBytes;
  private long progress;

  ServerConnection(Owner server, ServerLoop loop) {
    this.server = server;
    this.loop = loop;
    this.input = new ReceiveBuffer(loop.memory().inputs());
    this.output = new SendBuffer(loop.memory(), loop.commits(), this::drained);
    this.held = loop.answers().of(this::released);
    this.responses = new Responses();
  }

  /** The buffer to receive into, for the channel's configuration. */
  ReceiveBuffer input() {
    return input;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext newContext) {
    context = newContext;
    output.open(newContext);
  }

  @Override
  public void channelActive(ChannelHandlerContext ignored) {
    session = new Session(NettySockets.peer(context.channel()), held);
    openedNanos = server.clock().nanoTime();
    loop.add(member);
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    if (closed) {
      ReferenceCountUtil.release(message);
      return;
    }
    input.received(message);
    if (state == State.SERVING) {
      serve();
    } else {
      context.channel().config().setAutoRead(false);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ignored) {
    if (input.refusal() != null) {
      close(CloseReason.NO_MEMORY, NettySockets.text(input.refusal()));
    }
    input.giveBackIfEmpty();
    countHeld();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    letGo();
    if (session != null) {
      loop.remove(member);
      try {
        server.service().closed(session);
      } catch (RuntimeException | Error e) {
        server.failed(session.peer(), e);
      }
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    letGo();
    server.connectionClosed();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    boolean gone = cause instanceof IOException && !(cause instanceof CrailException);
    CloseReason why = gone ? CloseReason.NETWORK : CloseReason.FAILED;
    close(
        cause instanceof OutOfMemoryError ? CloseReason.NO_MEMORY : why, NettySockets.text(cause));
  }

  private void checkDeadlines(long nowNanos) {
    // The end of a cancelled read is not reported.
    input.giveBackIfEmpty();
    countHeld();
    if (waitsForAnswer) {
      waitsForAnswer = false;
      if (state == State.BLOCKED && !isFull()) {
        queue();
      }
    }
    if ((servedBytes == 0 || session.isInHandshake())
        && nowNanos - openedNanos >= server.handshakeTimeoutNanos()) {
      close(CloseReason.NO_HANDSHAKE, "");
      return;
    }
    long patience = loop.held().patienceNanos(heldBytes, server.stallTimeoutNanos());
    // As long as nothing is served, the frame at the front is the same one.
    if (input.length() == 0 || state != State.SERVING || servedBytes != sweptBytes) {
      sweptBytes = servedBytes;
      partialSinceNanos = nowNanos;
    } else if (nowNanos - partialSinceNanos >= patience) {
      close(CloseReason.UNENDED_REQUEST, "");
      return;
    }
    long untaken = output.untakenBytes();
    if (untaken == 0 || untaken != untakenBytes) {
      untakenBytes = untaken;
      untakenSinceNanos = nowNanos;
    } else if (nowNanos - untakenSinceNanos >= patience) {
      close(CloseReason.TAKES_NO_ANSWERS, "");
    }
  }

  @Override
  public boolean hasProgressed() {
    long now = servedBytes + output.takenBytes();
    boolean progressed = now != progress;
    progress = now;
    return progressed;
  }

  @Override
  public void endForMemory() {
    close(CloseReason.HOLDS_MEMORY, heldBytes + " bytes");
  }

  private void close(CloseReason why, String detail) {
    if (!closed) {
      server.dropped(session == null ? "a new connection" : session.peer(), why, detail);
      letGo();
      context.close();
    }
  }

  /**
   * Gives all memory back, unless requests are just being served from it. Nothing is sent any more.
   */
  private void letGo() {
    closed = true;
    if (serving) {
      return;
    }
    responses.forget();
    output.close();
    input.close();
    countHeld();
    // Last, since it makes answers that are only remembered.
    held.close();
  }

  /** Reports to the loop how much memory is held for the peer. */
  private void countHeld() {
    if (serving) {
      // No other connection is served in the meantime, and most of this memory is given back.
      return;
    }
    long now = input.heldBytes() + (output.isBusy() ? output.heldBytes() : 0);
    long change = now - heldBytes;
    if (change != 0) {
      heldBytes = now;
      loop.held().count(this, now, change);
    }
  }

  /** True when new requests have to wait until other answers leave. */
  private boolean isFull() {
    return isOutputFull() || held.isFull();
  }

  /** True when another chunk of output would exceed what this connection may hold. */
  private boolean isOutputFull() {
    return output.isBusy()
        && output.heldBytes() + LoopMemory.OUTPUT_CAPACITY
            > Math.min(server.outputLimit(), loop.held().mostForOne());
  }

  /** Serves the whole frames that have arrived. */
  private void serve() {
    serving = true;
    try {
      writeReleased();
      // Without requests there is no input chunk either.
      int served = input.length() == 0 ? 0 : serveFrames();
      if (!closed) {
        input.drop(served);
        responses.flush();
        if (state == State.QUEUED && !input.hasRoom()) {
          context.channel().config().setAutoRead(false);
        }
      }
    } catch (CrailException e) {
      close(CloseReason.PROTOCOL, e.getMessage());
    } catch (OutOfMemoryError e) {
      close(CloseReason.NO_MEMORY, NettySockets.text(e));
    } catch (RuntimeException | Error e) {
      // Errors of any kind: in a turn of the queue, no caller would close the connection.
      server.failed(session.peer(), e);
      close(CloseReason.FAILED, "");
    } finally {
      serving = false;
      if (closed) {
        letGo();
      }
    }
  }

  /** Writes the held answers that may leave, as many as the turn allows. */
  private void writeReleased() {
    int written = 0;
    while (held.isAnyLeaving() && state == State.SERVING && !closed) {
      if (isOutputFull()) {
        block();
        return;
      }
      held.write(responses);
      written++;
      if (written % RequestBatch.TOGETHER == 0) {
        responses.flush();
        if (loop.turns().isOver()) {
          queue();
        }
      }
    }
  }

  private int serveFrames() throws CrailException {
    ByteBuffer bytes = input.view();
    RequestBatch batch = loop.batch();
    int start = input.start();
    int end = start + input.length();
    int offset = start;
    int requests = 0;
    int length = Frame.check(bytes, start, end - start, Frame.KIND_REQUEST, Frame.MAX_LENGTH);
    while (length >= 0 && state == State.SERVING && !closed) {
      int begin = offset;
      batch.reset(session, bytes);
      while (length >= 0 && batch.count() < RequestBatch.TOGETHER && offset - begin < BATCH_BYTES) {
        batch.add(offset, length);
        offset += length;
        length = Frame.check(bytes, offset, end - offset, Frame.KIND_REQUEST, Frame.MAX_LENGTH);
      }
      int offered = batch.count();
      responses.look();
      server.service().serve(batch, responses);
      int served = batch.count();
      requests += served;
      if (served == RequestBatch.TOGETHER) {
        responses.flush();
      }
      if (served < offered) {
        offset = batch.bodyOffset(served) - Frame.HEADER_LENGTH;
        length = 0;
      }
      if (length >= 0 && !closed) {
        mayGoOn(served < offered);
      }
    }
    loop.served(requests);
    servedBytes += offset - start;
    return offset - start;
  }

  /** Decides whether further requests are served now. */
  private void mayGoOn(boolean gaveBack) {
    boolean awaits = session.takeWaitsForAnswer();
    if (isFull()) {
      block();
    } else if (!context.channel().isActive()) {
      // The peer is gone, so it does not wait for the answers any more.
      letGo();
    } else if (gaveBack && awaits) {
      waitsForAnswer = true;
      block();
    } else if (gaveBack || loop.turns().isOver()) {
      queue();
    }
  }

  private void block() {
    state = State.BLOCKED;
    loop.turns().block(member);
    context.channel().config().setAutoRead(false);
  }

  private void queue() {
    state = State.QUEUED;
    loop.queue(member, context.executor());
  }

  private void drained() {
    responses.flush();
    if (state == State.BLOCKED && !isFull()) {
      // Not served here, since this may be in the middle of a write.
      queue();
    }
    released();
    countHeld();
  }

  /** Gets a turn if held answers may leave. */
  private void released() {
    // While the connection is being served, it writes the answers or has set a state in which they
    // wait.
    boolean isAsleep = !serving && !closed && state != State.QUEUED;
    if (isAsleep && held.isAnyLeaving() && !isOutputFull()) {
      queue();
    }
  }

  private void resume() {
    if (closed) {
      return;
    }
    state = State.SERVING;
    serve();
    if (!closed && state == State.SERVING && !context.channel().config().isAutoRead()) {
      context.channel().config().setAutoRead(true);
    }
    input.giveBackIfEmpty();
    countHeld();
  }

  /** Writes responses into chunks, which leave when they are full or the read is served. */
  private final class Responses extends ResponseWriter {
    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (needed > LoopMemory.OUTPUT_CAPACITY) {
        throw new IllegalArgumentException("a response of " + needed + " bytes");
      }
      if (written > 0) {
        output.written(written, takeRests(loop.commits()));
      }
      ByteBuffer next = output.next();
      look();
      return next;
    }

    @Override
    public boolean hasTurn() {
      return !closed && context.channel().isActive() && loop.turns().allowLong();
    }

    /** Checks whether the answers are full. */
    void look() {
      setFull(closed || ServerConnection.this.isFull());
    }

    void flush() {
      output.written(written(), takeRests(loop.commits()));
      output.flush();
      if (output.written() == 0) {
        detach();
      }
    }

    void forget() {
      detach();
    }
  }
}
