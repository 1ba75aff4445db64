/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.FastThreadLocalThread;
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
  private static final int RESOLVER_THREADS = 2;
  private static final int RESOLVER_QUEUE = 1024;
  private static final long RESOLVER_IDLE_SECONDS = 10;

  private final Configuration configuration;
  private final Clock clock;
  private final NettySockets sockets;
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
    this.clock = clock;
    this.sockets = new NettySockets(configuration, memory);
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
              BriefPolling polling = sockets.newPolling(false);
              ServerLoop loop =
                  new ServerLoop(
                      clock,
                      sockets.newHandler(executor, polling),
                      polling,
                      sockets.memory(),
                      mostHeld,
                      new HeldAnswers(clock, executor, HeldAnswers.mostBytes(count)),
                      new CommitQueue(service.gate(), executor));
              loops.put(executor, loop);
              return loop;
            });
    NettyServer server = new NettyServer(name, service, clock, group, loops, configuration);
    try {
      server.listen(sockets.newServerBootstrap(group), resolved);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  @Override
  public ClientLoop newClientLoop(String name) {
    return new NettyClientLoop(sockets, resolver, name, sockets.callersDrive());
  }

  @Override
  public ClientLoop newOwnLoop(String name) {
    return new NettyClientLoop(sockets, resolver, name, false);
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
        name,
        count,
        executor -> new LoopSockets(sockets.newHandler(executor, sockets.newPolling(true))));
  }

  /** Creates event loops whose sockets are {@link LoopSockets} of the caller's. */
  EventLoopGroup newEventLoops(String name, int count, IoHandlerFactory handlers) {
    if (sockets.isSpinning() && !sockets.backend().maySpin()) {
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

  /** A bootstrap for a server on these event loops; the child handler is missing. */
  public ServerBootstrap newServerBootstrap(EventLoopGroup group) {
    return sockets.newServerBootstrap(group);
  }

  /** The most bytes that each of a server's {@code loops} loops holds for its peers. */
  public long heldLimit(int loops) {
    return sockets.heldLimit(loops);
  }
}
