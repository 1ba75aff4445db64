/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Clock;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.loop.LoopTask;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.IoRegistration;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * A client loop over Netty. Protocols other than the metadata protocol may also open connections on
 * the loop, through {@link #eventLoop()} and {@link #newBootstrap()} or {@link #connect(
 * InetSocketAddress, long, ChannelInitializer, Dialer.Listener)}; their handlers then run in the
 * loop.
 */
public final class NettyClientLoop extends ClientLoop {
  private final NettySockets sockets;
  private final Executor resolver;
  private final BriefPolling polling;
  private final DrivenEventLoop eventLoop;
  private final LoopMemory memory;
  private final LoopTask runEventLoopTasks;
  private final Map<Integer, IoRegistration> watched = new HashMap<>();

  NettyClientLoop(NettySockets sockets, Executor resolver, String name, boolean callersDrive) {
    super(name, Clock.SYSTEM, callersDrive, sockets.isSpinning(), true);
    this.sockets = sockets;
    this.resolver = resolver;
    // Enough for a connection with a server that is slow for a while.
    this.memory = new LoopMemory(sockets.memory(), sockets.outputLimit());
    this.polling = sockets.newPolling(false);
    this.eventLoop =
        new DrivenEventLoop(
            sockets.backend().newFactory(() -> polling),
            this::isDriver,
            this::mayWait,
            this::tasksAdded);
    this.runEventLoopTasks = eventLoop::runTasks;
    start();
  }

  /** The event loop that all connections of this loop are registered with. Thread-safe. */
  public EventLoop eventLoop() {
    return eventLoop;
  }

  /**
   * A bootstrap for connections on this loop, with event loop, channel class and socket options
   * set; the handler is missing. For the driving thread.
   */
  public Bootstrap newBootstrap() {
    return sockets.newBootstrap(eventLoop);
  }

  /**
   * Begins to connect with handlers of the caller's. In the loop.
   *
   * @param address may be unresolved; each of the name's addresses is tried
   * @param deadlineNanos when the attempt fails, by {@link #clock()}
   * @param initializer sets up the pipeline; runs once for each address that is tried
   * @param listener learns the outcome, in the loop
   */
  public void connect(
      InetSocketAddress address,
      long deadlineNanos,
      ChannelInitializer<Channel> initializer,
      Dialer.Listener listener) {
    Bootstrap bootstrap = newBootstrap().handler(initializer);
    new Dialer(this, bootstrap, resolver, address, deadlineNanos, listener).start();
  }

  @Override
  public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
    connect(
        address,
        deadlineNanos,
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            ClientConnection connection =
                new ClientConnection(address, handler, memory, sockets.outputLimit());
            channel.config().setRecvByteBufAllocator(connection.input());
            channel.pipeline().addLast(connection);
          }
        },
        new Dialer.Listener() {
          @Override
          public void connected(Channel channel) {
            channel.pipeline().get(ClientConnection.class).open();
          }

          @Override
          public void failed(String cause) {
            handler.closed(cause);
          }
        });
  }

  /**
   * Lets the next wait begin with polling, because bytes are on their way. In the loop.
   *
   * @see NettyKeys#SPIN_MICROS
   */
  public void expect() {
    polling.expect();
  }

  @Override
  protected void poll(long waitNanos) {
    if (waitNanos >= 0 && outstanding() >= BriefPolling.MANY) {
      polling.expect();
    }
    eventLoop.poll(waitNanos);
  }

  @Override
  protected boolean isUsed() {
    return eventLoop.isUsed();
  }

  @Override
  protected boolean watch(int descriptor) {
    IoRegistration begun =
        sockets.backend() == IoBackend.EPOLL ? EpollWatch.begin(eventLoop, descriptor) : null;
    if (begun != null) {
      watched.put(descriptor, begun);
    }
    return begun != null;
  }

  @Override
  protected void unwatch(int descriptor) {
    IoRegistration begun = watched.remove(descriptor);
    if (begun != null) {
      begun.cancel();
    }
  }

  @Override
  protected void wakeup() {
    eventLoop.wakeup();
  }

  @Override
  protected void destroy() {
    eventLoop.destroy();
    memory.close();
  }

  private void tasksAdded() {
    submit(runEventLoopTasks);
  }
}
