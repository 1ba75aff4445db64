/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.error.CrailException;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.nio.ByteBuffer;

/**
 * A server's end of a connection: the whole frames of a read go to the service, {@link
 * RequestBatch#TOGETHER} at a time, whose responses leave with one write. A peer that does not take
 * its responses is not served until it does.
 */
final class ServerConnection extends ChannelInboundHandlerAdapter {

  private final NettyServer server;
  private final ServerLoop loop;
  private final ReceiveBuffer input = new ReceiveBuffer(Frame.MAX_LENGTH);
  private final Output output;
  private final Responses responses = new Responses();

  private ChannelHandlerContext context;
  private Session session;
  private RequestBatch batch;
  private boolean paused;
  private boolean closed;
  private long servedBytes;
  private long sweptBytes;
  private long partialSinceNanos;
  private long openedNanos;
  private long untakenBytes;
  private long untakenSinceNanos;

  ServerConnection(NettyServer server, ServerLoop loop) {
    this.server = server;
    this.loop = loop;
    this.output = new Output(loop.pool(), this::drained);
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
    session = new Session(NettyServer.peer(context.channel()));
    batch = new RequestBatch(session);
    openedNanos = server.clock().nanoTime();
    loop.add(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ignored, Object message) {
    input.received(message);
    if (!paused && !closed) {
      serve();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ignored) {
    closed = true;
    if (session != null) {
      loop.remove(this);
      try {
        server.service().closed(session);
      } catch (RuntimeException | AssertionError e) {
        server.failed(session.peer(), e);
      }
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ignored) {
    closed = true;
    responses.abandon();
    output.close();
    input.release();
    server.connectionClosed();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ignored, Throwable cause) {
    close(NettyServer.text(cause));
  }

  /** Looks at the deadlines. */
  void sweep(long nowNanos) {
    if (servedBytes == 0 && nowNanos - openedNanos >= server.handshakeTimeoutNanos()) {
      close("no handshake in time");
      return;
    }
    // The frame at the front is the same one as long as nothing is served.
    if (input.length() == 0 || paused || servedBytes != sweptBytes) {
      sweptBytes = servedBytes;
      partialSinceNanos = nowNanos;
    } else if (nowNanos - partialSinceNanos >= server.stallTimeoutNanos()) {
      close("does not end a request that it has begun");
      return;
    }
    long untaken = output.untakenBytes();
    if (untaken == 0 || untaken != untakenBytes) {
      untakenBytes = untaken;
      untakenSinceNanos = nowNanos;
    } else if (nowNanos - untakenSinceNanos >= server.stallTimeoutNanos()) {
      close("takes no answers");
    }
  }

  private void close(String why) {
    if (!closed) {
      closed = true;
      server.dropped(session == null ? "a new connection" : session.peer(), why);
      context.close();
    }
  }

  /** Serves the whole frames that have arrived. */
  private void serve() {
    int served = 0;
    try {
      served = serveFrames();
    } catch (CrailException e) {
      close(e.getMessage());
    } catch (RuntimeException | AssertionError e) {
      server.failed(session.peer(), e);
      close("its request failed");
    }
    if (!closed) {
      input.drop(served);
      responses.flush();
    }
  }

  private int serveFrames() throws CrailException {
    ByteBuffer bytes = input.view();
    int end = input.length();
    int offset = 0;
    int requests = 0;
    batch.reset(bytes);
    int length = Frame.check(bytes, 0, end, Frame.KIND_REQUEST, Frame.MAX_LENGTH);
    while (length >= 0) {
      batch.add(offset, length);
      requests++;
      offset += length;
      if (batch.count() == RequestBatch.TOGETHER) {
        server.service().serve(batch, responses);
        responses.flush();
        batch.reset(bytes);
        if (output.pendingBytes() > server.outputLimit()) {
          pause();
          break;
        }
      }
      length = Frame.check(bytes, offset, end - offset, Frame.KIND_REQUEST, Frame.MAX_LENGTH);
    }
    if (batch.count() > 0) {
      server.service().serve(batch, responses);
      if (output.pendingBytes() > server.outputLimit()) {
        pause();
      }
    }
    loop.served(requests);
    servedBytes += offset;
    return offset;
  }

  private void pause() {
    paused = true;
    context.channel().config().setAutoRead(false);
  }

  private void drained() {
    responses.flush();
    if (paused && output.pendingBytes() <= server.outputLimit()) {
      // Not here: this may be the middle of a write.
      context.executor().execute(this::resume);
    }
  }

  private void resume() {
    if (closed || !paused) {
      return;
    }
    paused = false;
    serve();
    if (!closed && !paused) {
      context.channel().config().setAutoRead(true);
    }
  }

  /** Writes responses into chunks, which leave when they are full or the read is served. */
  private final class Responses extends ResponseWriter {
    private Chunk chunk;

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (needed > Chunk.CAPACITY) {
        throw new IllegalArgumentException("a response of " + needed + " bytes");
      }
      if (chunk != null) {
        output.send(chunk, written);
      }
      chunk = output.acquire();
      return chunk.view();
    }

    void flush() {
      // A chunk that cannot leave yet goes on being filled.
      if (chunk != null && !output.isBusy()) {
        Chunk full = chunk;
        int bytes = written();
        chunk = null;
        detach();
        output.send(full, bytes);
      }
    }

    void abandon() {
      if (chunk != null) {
        chunk.release();
        chunk = null;
        detach();
      }
    }
  }
}
