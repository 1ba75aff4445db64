/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Frames over TCP. Thread-safe. */
public final class NettyTransport implements Transport {
  private static final int ACCEPT_BACKLOG = 1024;
  private static final int RESOLVER_THREADS = 2;
  private static final int RESOLVER_QUEUE = 1024;
  private static final long RESOLVER_IDLE_SECONDS = 10;

  // Our own limits hold output back. Netty's limits would only cause events.
  private static final WriteBufferWaterMark NO_WATER_MARK =
      new WriteBufferWaterMark(Integer.MAX_VALUE - 1, Integer.MAX_VALUE);

  /** The connections of a loop may hold at least this many bytes, which is a few chunks. */
  private static final long LEAST_HELD = 2 << 20;

  private final Configuration configuration;
  private final ByteBufAllocator memory;
  private final Clock clock;
  private final IoBackend backend;
  private final ThreadPoolExecutor resolver;

  /**
   * Creates a transport; see {@link NettyKeys}.
   *
   * @throws ConfigException when the I/O back end that was asked for is not available
   */
  public NettyTransport(Configuration configuration) {
    this(configuration, UnpooledByteBufAllocator.DEFAULT, Clock.SYSTEM);
  }

  /** Creates a transport whose servers use the memory and the clock of a test. */
  NettyTransport(Configuration configuration, ByteBufAllocator memory, Clock clock) {
    this.configuration = configuration;
    this.memory = memory;
    this.clock = clock;
    this.backend = IoBackend.of(configuration.get(NettyKeys.IO));
    this.resolver =
        new ThreadPoolExecutor(
            RESOLVER_THREADS,
            RESOLVER_THREADS,
            RESOLVER_IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(RESOLVER_QUEUE),
            Threads.factory("crail-resolver"));
    resolver.allowCoreThreadTimeOut(true);
  }

  @Override
  public ServerEndpoint listen(String name, InetSocketAddress address, Service service)
      throws IOException {
    InetSocketAddress resolved =
        address.isUnresolved()
            ? new InetSocketAddress(address.getHostString(), address.getPort())
            : address;
    if (resolved.isUnresolved()) {
      throw new IOException("cannot listen on " + Addresses.text(address) + ": unknown host");
    }
    int cores = configuration.get(NettyKeys.CORES);
    int count = cores == 0 ? Runtime.getRuntime().availableProcessors() : cores;
    long mostHeld = heldLimit(count);
    Map<Executor, ServerLoop> loops = new IdentityHashMap<>();
    EventLoopGroup group =
        newEventLoops(
            name,
            count,
            executor -> {
              BriefPolling polling = newPolling(false);
              ServerLoop loop =
                  new ServerLoop(
                      clock,
                      newHandler(executor, polling),
                      polling,
                      memory,
                      mostHeld,
                      new HeldAnswers(clock, executor, HeldAnswers.mostBytes(count)));
              loops.put(executor, loop);
              return loop;
            });
    NettyServer server = new NettyServer(name, service, clock, group, loops, configuration);
    try {
      server.listen(newServerBootstrap(group), resolved);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  @Override
  public ClientLoop newClientLoop(String name) {
    return new NettyClientLoop(this, name, isSpinning());
  }

  /**
   * Makes a sentence for people of a failure: the system's message, without the name of the system
   * call and without an address, which the caller adds.
   */
  public static String text(Throwable failure) {
    return NettyServer.text(failure);
  }

  @Override
  public void close() {
    resolver.shutdownNow();
  }

  /** The values that this transport was made with. */
  public Configuration configuration() {
    return configuration;
  }

  /**
   * Creates event loops with threads of their own, for a server with another protocol; the caller
   * shuts them down. After each event they poll for {@link WaitKeys#SPIN_TIME}, as long as that
   * pays, since a peer that moves data mostly continues.
   *
   * @param name names the threads, {@code crail-<name>-<number>}
   */
  public EventLoopGroup newEventLoops(String name, int count) {
    return newEventLoops(
        name, count, executor -> new LoopSockets(newHandler(executor, newPolling(true))));
  }

  /** Creates event loops whose sockets are {@link LoopSockets} of the caller's. */
  EventLoopGroup newEventLoops(String name, int count, IoHandlerFactory handlers) {
    if (isSpinning() && !backend.maySpin()) {
      throw new ConfigException(
          "key '" + WaitKeys.SPIN_TIME.name() + "': a server with io_uring has to sleep");
    }
    AtomicInteger number = new AtomicInteger();
    String prefix = name.startsWith("crail-") ? name : "crail-" + name;
    ThreadFactory threads =
        runnable ->
            Threads.watched(
                new FastThreadLocalThread(null, runnable, prefix + "-" + number.getAndIncrement()));
    return new MultiThreadIoEventLoopGroup(count, threads, handlers);
  }

  private IoHandler newHandler(ThreadAwareExecutor executor, SelectStrategy parking) {
    // The loop polls without ever waiting, but runs its tasks between two polls.
    SelectStrategy spinning = (selectNow, hasTasks) -> selectNow.get();
    SelectStrategy strategy = isSpinning() ? spinning : parking;
    return backend.newFactory(() -> strategy).newHandler(executor);
  }

  /**
   * Makes the way in which a loop waits that must not spin for ever.
   *
   * @param always whether the loop expects more after each event
   */
  BriefPolling newPolling(boolean always) {
    return new BriefPolling(isSpinning() ? 0 : configuration.get(WaitKeys.SPIN_TIME), always);
  }

  /** A bootstrap for a server on these event loops; the child handler is missing. */
  public ServerBootstrap newServerBootstrap(EventLoopGroup group) {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(group)
            .channel(backend.serverChannel())
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, ACCEPT_BACKLOG)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, NO_WATER_MARK);
    backend.keepAlive().forEach(bootstrap::childOption);
    int send = configuration.get(NettyKeys.SEND_BUFFER).intValue();
    if (send > 0) {
      bootstrap.childOption(ChannelOption.SO_SNDBUF, send);
    }
    int receive = configuration.get(NettyKeys.RECEIVE_BUFFER).intValue();
    if (receive > 0) {
      // Set on the listener, because the window is negotiated before the connection is accepted.
      bootstrap.option(ChannelOption.SO_RCVBUF, receive);
    }
    return bootstrap;
  }

  /** A bootstrap for a connection on an event loop; the handler is missing. */
  Bootstrap newBootstrap(EventLoop eventLoop) {
    Bootstrap bootstrap =
        new Bootstrap()
            .group(eventLoop)
            .channel(backend.channel())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, NO_WATER_MARK);
    backend.keepAlive().forEach(bootstrap::option);
    int send = configuration.get(NettyKeys.SEND_BUFFER).intValue();
    if (send > 0) {
      bootstrap.option(ChannelOption.SO_SNDBUF, send);
    }
    int receive = configuration.get(NettyKeys.RECEIVE_BUFFER).intValue();
    if (receive > 0) {
      bootstrap.option(ChannelOption.SO_RCVBUF, receive);
    }
    return bootstrap;
  }

  private boolean isSpinning() {
    return configuration.get(WaitKeys.SPIN_TIME) == Long.MAX_VALUE;
  }

  /** Whether threads that wait drive client loops. */
  boolean callersDrive() {
    return backend.mayChangeThreads()
        && configuration.get(WaitKeys.CLIENT_DRIVER) == WaitKeys.Driver.WAITER;
  }

  IoBackend backend() {
    return backend;
  }

  Executor resolver() {
    return resolver;
  }

  long outputLimit() {
    return configuration.get(NettyKeys.OUTPUT_LIMIT);
  }

  ByteBufAllocator memory() {
    return memory;
  }

  /** The most bytes that each of a server's {@code loops} loops holds for its peers. */
  public long heldLimit(int loops) {
    long limit = configuration.get(NettyKeys.HELD_LIMIT);
    long all = limit == 0 ? PlatformDependent.estimateMaxDirectMemory() / 2 : limit;
    return Math.max(all / loops, LEAST_HELD);
  }
}
