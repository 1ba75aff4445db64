/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.netty.AcceptFailures;
import io.crail.rpc.netty.HeldMemory;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettySockets;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.host.HostedRegions;
import io.crail.storage.host.HostedServer;
import io.crail.storage.region.Hazard;
import io.crail.storage.region.HazardTable;
import io.crail.storage.region.RegionDirectory;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server part of the TCP tier: regions in mapped files or anonymous memory, and event loops
 * that each own a disjoint set of connections. Started and closed by one thread.
 */
class TcpStorageServer extends HostedServer implements DataServerEnd.Owner {
  private static final Logger LOG = LoggerFactory.getLogger(TcpStorageServer.class);
  private static final long CLOSE_TIMEOUT_MILLIS = 5_000;
  private static final long LONGEST_SWEEP_MILLIS = 500;

  private final RateLimitedLog droppedLog = new RateLimitedLog(LOG, Clock.SYSTEM);
  private final ChannelGroup channels =
      new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
  private final AtomicInteger connections = new AtomicInteger();
  private final int connectionLimit;
  private final long writeTimeoutNanos;
  private final long handshakeTimeoutNanos;
  private final long stallTimeoutNanos;
  private final Map<EventExecutor, DatanodeLoop> loops = new IdentityHashMap<>();
  private NettyTransport transport;
  private EventLoopGroup group;
  private Channel listener;

  TcpStorageServer(Configuration configuration) {
    super(TcpStorageKeys.HOST, configuration);
    this.connectionLimit = configuration.get(TcpStorageKeys.CONNECTION_LIMIT);
    this.writeTimeoutNanos = configuration.get(TcpStorageKeys.WRITE_TIMEOUT).toNanos();
    this.handshakeTimeoutNanos = configuration.get(NettyKeys.HANDSHAKE_TIMEOUT).toNanos();
    this.stallTimeoutNanos = configuration.get(NettyKeys.STALL_TIMEOUT).toNanos();
  }

  @Override
  protected HostedRegions place() {
    Configuration configuration = configuration();
    return configuration.get(TcpStorageKeys.MEMORY) == TcpStorageKeys.Memory.ANONYMOUS
        ? HostedRegions.anonymous()
        : HostedRegions.inFiles(
            configuration.get(TcpStorageKeys.DATA_PATH),
            configuration.get(TcpStorageKeys.PREALLOCATE));
  }

  @Override
  protected void serve(InetSocketAddress address) throws IOException {
    Configuration configuration = configuration();
    transport = new NettyTransport(configuration);
    int cores = configuration.get(TcpStorageKeys.CORES);
    int loopCount = cores == 0 ? Runtime.getRuntime().availableProcessors() : cores;
    group = transport.newEventLoops("storage", loopCount);
    long mostHeld = transport.heldLimit(loopCount);
    for (EventExecutor executor : group) {
      Hazard hazard = hosted().hazards().claim(HazardTable.OWN_THREADS);
      if (hazard == null) {
        throw new IOException(
            "'" + TcpStorageKeys.CORES.name() + "' is " + cores + ", more than threads that write");
      }
      loops.put(executor, new DatanodeLoop(hazard, new HeldMemory(mostHeld)));
    }
    ChannelFuture bound =
        transport
            .newServerBootstrap(group)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accepted(channel);
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "the datanode cannot listen on "
              + Addresses.text(address)
              + ": "
              + NettySockets.text(bound.cause()),
          bound.cause());
    }
    listener = bound.channel();
    AcceptFailures.watch(listener, "the datanode", Clock.SYSTEM);
    long sweepMillis =
        Math.max(1, Math.min(LONGEST_SWEEP_MILLIS, writeTimeoutNanos / 1_000_000 / 8));
    loops.forEach(
        (executor, loop) ->
            executor.scheduleWithFixedDelay(
                loop::sweep, sweepMillis, sweepMillis, TimeUnit.MILLISECONDS));
    group
        .next()
        .scheduleAtFixedRate(hosted()::beat, 0, RegionDirectory.BEAT_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void accepted(Channel channel) {
    if (connections.incrementAndGet() > connectionLimit) {
      connections.decrementAndGet();
      dropped(String.valueOf(channel.remoteAddress()), "there are " + connectionLimit + " already");
      channel.close();
      return;
    }
    boolean straight = !(channel instanceof IoUringSocketChannel);
    DataServerEnd connection;
    try {
      connection = new DataServerEnd(this, straight);
    } catch (OutOfMemoryError e) {
      connections.decrementAndGet();
      dropped(String.valueOf(channel.remoteAddress()), "no memory for its buffers");
      channel.close();
      return;
    }
    channel.config().setRecvByteBufAllocator(connection.receiver());
    channel.pipeline().addLast(connection);
    channels.add(channel);
  }

  @Override
  public DatanodeLoop loop(EventExecutor executor) {
    return loops.get(executor);
  }

  @Override
  public long writeTimeoutNanos() {
    return writeTimeoutNanos;
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
  public void ended(String peer, String why) {
    LOG.debug("the data connection of {} has ended: {}", peer, why);
  }

  @Override
  public void dropped(String peer, String why) {
    droppedLog.warn("closed the data connection of " + peer + ": " + why);
  }

  @Override
  public void failed(String peer, Throwable cause) {
    LOG.error("a request of {} failed", peer, cause);
  }

  /** Bytes that connections hold for their peers now. */
  long heldBytes() {
    return loops.values().stream().mapToLong(loop -> loop.held().bytes()).sum();
  }

  /** The most that they ever held. */
  long peakHeldBytes() {
    return loops.values().stream().mapToLong(loop -> loop.held().peakBytes()).sum();
  }

  @Override
  public OptionalInt connections() {
    return OptionalInt.of(connections.get());
  }

  @Override
  public Optional<Statistics> statistics() {
    Statistics sum = new Statistics(0, 0, 0, 0, 0);
    for (DatanodeLoop loop : loops.values()) {
      sum = sum.plus(loop.statistics());
    }
    return Optional.of(sum);
  }

  @Override
  public long refusals(ErrorCode error) {
    return loops.values().stream().mapToLong(loop -> loop.refusals(error)).sum();
  }

  @Override
  public void connectionClosed() {
    connections.decrementAndGet();
  }

  @Override
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  @Override
  public TierTraits traits() {
    return TierTraits.ofMemory(FenceKind.GENERATION, true, hosted().mappablePath());
  }

  @Override
  public Fence fence(int region) {
    return new Fence(hosted().get(region).generations().fence(), regions().get(region));
  }

  @Override
  protected void stop() {
    if (listener != null) {
      listener.close().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
    }
    if (group != null) {
      // Waits for the end of each channel first. An event loop that ends with pending I/O leaves a
      // connection behind, whose client would wait until its deadline.
      if (!channels.close().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS)) {
        LOG.warn("the datanode's connections did not end within {} ms", CLOSE_TIMEOUT_MILLIS);
      }
      group.shutdownGracefully(0, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
      if (!group.terminationFuture().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS)) {
        LOG.warn("the datanode's event loops did not end within {} ms", CLOSE_TIMEOUT_MILLIS);
      } else {
        loops.values().forEach(DatanodeLoop::release);
      }
    }
    if (transport != null) {
      transport.close();
    }
  }
}
