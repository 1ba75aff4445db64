/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listening server: event loops with disjoint sets of connections. Thread-safe. */
final class NettyServer implements Transport.ServerEndpoint, ServerConnection.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(NettyServer.class);
  private static final long CLOSE_TIMEOUT_MILLIS = 5_000;

  private final String name;
  private final Service service;
  private final Clock clock;
  private final EventLoopGroup group;
  private final Map<EventExecutor, ServerLoop> loops = new IdentityHashMap<>();
  private final Map<CloseReason, RateLimitedLog> droppedLogs = new EnumMap<>(CloseReason.class);
  private final int connectionLimit;
  private final long outputLimit;
  private final long handshakeTimeoutNanos;
  private final long stallTimeoutNanos;
  private final ChannelGroup channels =
      new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
  private final AtomicInteger connections = new AtomicInteger();
  private final Map<CloseReason, LongAdder> endings = new EnumMap<>(CloseReason.class);
  private final AtomicBoolean closed = new AtomicBoolean();
  private Channel listener;

  NettyServer(
      String name,
      Service service,
      Clock clock,
      EventLoopGroup group,
      Map<Executor, ServerLoop> loops,
      Configuration values) {
    this.name = name;
    this.service = service;
    this.clock = clock;
    this.group = group;
    this.connectionLimit = values.get(NettyKeys.CONNECTION_LIMIT);
    this.outputLimit = values.get(NettyKeys.OUTPUT_LIMIT);
    this.handshakeTimeoutNanos = values.get(NettyKeys.HANDSHAKE_TIMEOUT).toNanos();
    this.stallTimeoutNanos = values.get(NettyKeys.STALL_TIMEOUT).toNanos();
    group.forEach(executor -> this.loops.put(executor, loops.get(executor)));
    for (CloseReason ending : CloseReason.values()) {
      endings.put(ending, new LongAdder());
      droppedLogs.put(ending, new RateLimitedLog(LOG, clock));
    }
  }

  /** Binds and begins to serve. */
  void listen(ServerBootstrap bootstrap, InetSocketAddress address) throws IOException {
    bootstrap.childHandler(
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            accepted(channel);
          }
        });
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "cannot listen on " + Addresses.text(address) + ": " + NettySockets.text(bound.cause()));
    }
    listener = bound.channel();
    AcceptFailures.watch(listener, name, clock);
    long period = Math.min(1_000_000_000L, Math.min(handshakeTimeoutNanos, stallTimeoutNanos) / 4);
    loops.forEach(
        (executor, loop) ->
            executor.scheduleWithFixedDelay(
                () -> beginSweep(executor, loop), period, period, TimeUnit.NANOSECONDS));
  }

  @Override
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    // Channels are closed first, and completely: an event loop that ends with pending I/O may leave
    // it behind.
    if (listener != null) {
      await("its listener", listener.close());
    }
    await("its connections", channels.close());
    loops.forEach((executor, loop) -> executor.execute(loop.memory()::close));
    await("its threads", group.shutdownGracefully(0, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS));
  }

  private void await(String what, Future<?> end) {
    for (EventExecutor executor : loops.keySet()) {
      if (executor.inEventLoop()) {
        // The service closes its own server, so this thread must return before anything can end.
        return;
      }
    }
    if (!end.awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS)) {
      LOG.warn("server {}: {} did not end within {} ms", name, what, CLOSE_TIMEOUT_MILLIS);
    }
  }

  @Override
  public Service service() {
    return service;
  }

  @Override
  public Clock clock() {
    return clock;
  }

  @Override
  public long outputLimit() {
    return outputLimit;
  }

  @Override
  public long handshakeTimeoutNanos() {
    return handshakeTimeoutNanos;
  }

  @Override
  public long stallTimeoutNanos() {
    return stallTimeoutNanos;
  }

  @Override
  public void dropped(String peer, CloseReason why, String detail) {
    endings.get(why).increment();
    String reason = why.text() + (detail.isEmpty() ? "" : ": " + detail);
    String line =
        name + ": closed the connection of " + peer + ": " + reason + " (" + why.label() + ")";
    if (why.isOrdinary()) {
      LOG.debug(line);
    } else {
      droppedLogs.get(why).warn(line);
    }
  }

  @Override
  public Map<String, Long> statistics() {
    Map<String, Long> statistics = new LinkedHashMap<>();
    statistics.put("connections", (long) connections.get());
    statistics.put(
        "waiting-connections",
        loops.values().stream().mapToLong(loop -> loop.turns().waitingCount()).sum());
    statistics.put(
        ConnectionScheduler.WAITED,
        loops.values().stream().mapToLong(loop -> loop.turns().waitedNanos()).sum());
    statistics.put(
        "held-bytes", loops.values().stream().mapToLong(loop -> loop.held().bytes()).sum());
    statistics.put(
        "peak-held-bytes",
        loops.values().stream().mapToLong(loop -> loop.held().peakBytes()).sum());
    HeldAnswers.addStatistics(
        statistics, loops.values().stream().map(ServerLoop::answers).toList());
    endings.forEach((why, count) -> statistics.put("ended-" + why.label(), count.sum()));
    return statistics;
  }

  @Override
  public void failed(String peer, Throwable cause) {
    LOG.error("{}: a request of {} failed", name, peer, cause);
  }

  @Override
  public void connectionClosed() {
    connections.decrementAndGet();
  }

  /**
   * Begins a sweep. All deadlines depend on the sweeps, so they continue after any failure, even
   * without memory.
   */
  private void beginSweep(EventExecutor executor, ServerLoop loop) {
    // A sweep that lasts longer than a period continues alone, since two sweeps would take two
    // slices of a turn.
    if (!loop.isSweepQueued()) {
      sweep(executor, loop);
    }
  }

  private void sweep(EventExecutor executor, ServerLoop loop) {
    try {
      if (loop.sweep()) {
        // The rest of the sweep runs after a look at the sockets.
        executor.schedule(() -> sweep(executor, loop), 0, TimeUnit.NANOSECONDS);
        loop.sweepQueued();
      }
    } catch (RuntimeException | Error e) {
      sweepFailed(e);
    }
  }

  private void sweepFailed(Throwable cause) {
    try {
      LOG.error("{}: a sweep failed", name, cause);
    } catch (RuntimeException | Error e) {
      // The next sweep may have the memory to log.
    }
  }

  private void accepted(Channel channel) {
    if (connections.incrementAndGet() > connectionLimit) {
      connections.decrementAndGet();
      dropped(NettySockets.peer(channel), CloseReason.CONNECTION_LIMIT, connectionLimit + "");
      channel.close();
      return;
    }
    ServerConnection connection = new ServerConnection(this, loops.get(channel.eventLoop()));
    channel.config().setRecvByteBufAllocator(connection.input());
    channel.pipeline().addLast(connection);
    channels.add(channel);
  }
}
