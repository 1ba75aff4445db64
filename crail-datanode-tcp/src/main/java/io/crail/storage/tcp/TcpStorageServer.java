/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.netty.HeldMemory;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.StorageServer;
import io.crail.storage.host.LocalHost;
import io.crail.storage.region.DataPath;
import io.crail.storage.region.Hazard;
import io.crail.storage.region.HazardTable;
import io.crail.storage.region.RegionDirectory;
import io.crail.storage.region.RegionMemory;
import io.crail.storage.region.RegionPlan;
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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server part of the TCP tier: regions in mapped files or anonymous memory, and event loops
 * that each own a disjoint set of connections. Started and closed by one thread.
 */
class TcpStorageServer implements StorageServer {
  private static final Logger LOG = LoggerFactory.getLogger(TcpStorageServer.class);
  private static final long CLOSE_TIMEOUT_MILLIS = 5_000;
  private static final long LONGEST_SWEEP_MILLIS = 500;

  /** Owner of the slots of this process; those of others are random. */
  private static final long OWN_THREADS = 1;

  private final Configuration configuration;
  private final DataPath dataPath;
  private final RateLimitedLog droppedLog = new RateLimitedLog(LOG, Clock.SYSTEM);
  private final ChannelGroup channels =
      new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
  private final AtomicInteger connections = new AtomicInteger();
  private final int connectionLimit;
  private final long writeTimeoutNanos;
  private final long handshakeTimeoutNanos;
  private final long stallTimeoutNanos;
  private final Map<EventExecutor, DatanodeLoop> loops = new IdentityHashMap<>();
  private UUID uuid;
  private List<RegionMemory> regions = List.of();
  private RegionDirectory directory;
  private HazardTable hazards;
  private NettyTransport transport;
  private EventLoopGroup group;
  private Channel listener;
  private boolean closed;

  TcpStorageServer(Configuration configuration) {
    this.configuration = configuration;
    this.dataPath = DataPath.of(configuration.get(TcpStorageKeys.DATA_PATH));
    this.connectionLimit = configuration.get(TcpStorageKeys.CONNECTION_LIMIT);
    this.writeTimeoutNanos = configuration.get(TcpStorageKeys.WRITE_TIMEOUT).toNanos();
    this.handshakeTimeoutNanos = configuration.get(NettyKeys.HANDSHAKE_TIMEOUT).toNanos();
    this.stallTimeoutNanos = configuration.get(NettyKeys.STALL_TIMEOUT).toNanos();
  }

  @Override
  public void start(UUID newUuid) throws IOException {
    uuid = newUuid;
    boolean started = false;
    try {
      List<InetSocketAddress> namenodes = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
      InetAddress host = LocalHost.address(configuration.get(TcpStorageKeys.INTERFACE), namenodes);
      makeRegions(namenodes.size());
      listen(new InetSocketAddress(host, configuration.get(TcpStorageKeys.PORT)));
      started = true;
    } finally {
      if (!started) {
        close();
      }
    }
  }

  private void makeRegions(int namenodes) throws IOException {
    List<Integer> lengths =
        new RegionPlan(TcpStorageKeys.STORAGE_LIMIT, TcpStorageKeys.ALLOCATION_SIZE)
            .lengths(configuration, namenodes, Extent.MIN_LENGTH);
    if (configuration.get(TcpStorageKeys.MEMORY) == TcpStorageKeys.Memory.FILE) {
      directory =
          RegionDirectory.create(
              dataPath.path(), uuid, lengths, configuration.get(TcpStorageKeys.PREALLOCATE));
      regions = directory.regions();
      hazards = directory.hazards();
      return;
    }
    hazards = HazardTable.anonymous();
    List<RegionMemory> anonymous = new ArrayList<>();
    try {
      for (int i = 0; i < lengths.size(); i++) {
        anonymous.add(RegionMemory.anonymous(i, lengths.get(i), hazards));
      }
    } catch (OutOfMemoryError e) {
      throw new IOException(
          "no direct memory for "
              + lengths.size()
              + " regions of "
              + lengths.get(0)
              + " bytes; see -XX:MaxDirectMemorySize",
          e);
    }
    regions = List.copyOf(anonymous);
  }

  private void listen(InetSocketAddress address) throws IOException {
    transport = new NettyTransport(configuration);
    int cores = configuration.get(TcpStorageKeys.CORES);
    int loopCount = cores == 0 ? Runtime.getRuntime().availableProcessors() : cores;
    group = transport.newEventLoops("storage", loopCount);
    long mostHeld = transport.heldLimit(loopCount);
    for (EventExecutor executor : group) {
      Hazard hazard = hazards.claim(OWN_THREADS);
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
              + bound.cause().getMessage(),
          bound.cause());
    }
    listener = bound.channel();
    long sweepMillis =
        Math.max(1, Math.min(LONGEST_SWEEP_MILLIS, writeTimeoutNanos / 1_000_000 / 8));
    loops.forEach(
        (executor, loop) ->
            executor.scheduleWithFixedDelay(
                loop::sweep, sweepMillis, sweepMillis, TimeUnit.MILLISECONDS));
    if (directory != null) {
      // In an event loop, so that a heart that beats also means that somebody serves.
      group
          .next()
          .scheduleAtFixedRate(
              directory::beat, 0, RegionDirectory.BEAT_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void accepted(Channel channel) {
    if (connections.incrementAndGet() > connectionLimit) {
      connections.decrementAndGet();
      dropped(String.valueOf(channel.remoteAddress()), "there are " + connectionLimit + " already");
      channel.close();
      return;
    }
    boolean straight = !(channel instanceof IoUringSocketChannel);
    DatanodeConnection connection;
    try {
      connection = new DatanodeConnection(this, straight);
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

  /** What the connections of an event loop share; only for its thread. */
  DatanodeLoop loop(EventExecutor executor) {
    return loops.get(executor);
  }

  UUID uuid() {
    return uuid;
  }

  /** Who is in the middle of a write to the regions. */
  HazardTable hazards() {
    return hazards;
  }

  /** Region {@code index}, or null when there is none. */
  RegionMemory region(int index) {
    return index >= 0 && index < regions.size() ? regions.get(index) : null;
  }

  long writeTimeoutNanos() {
    return writeTimeoutNanos;
  }

  long handshakeTimeoutNanos() {
    return handshakeTimeoutNanos;
  }

  long stallTimeoutNanos() {
    return stallTimeoutNanos;
  }

  /** A client has gone without a farewell, which is nothing to warn of. */
  void ended(String peer, String why) {
    LOG.debug("the data connection of {} has ended: {}", peer, why);
  }

  /**
   * A connection was closed for a reason worth a line: what its client has sent, or has not. Not
   * final, so that a test hears of it.
   */
  void dropped(String peer, String why) {
    droppedLog.warn("closed the data connection of " + peer + ": " + why);
  }

  /** A bug. */
  void failed(String peer, Throwable cause) {
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

  /** Connections that are open now. */
  int connections() {
    return connections.get();
  }

  void connectionClosed() {
    connections.decrementAndGet();
  }

  @Override
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  @Override
  public List<Region> regions() {
    return regions.stream()
        .map(region -> new Region(region.index(), region.length(), 0, 0))
        .toList();
  }

  @Override
  public TierTraits traits() {
    return TierTraits.ofMemory(
        FenceKind.GENERATION, true, directory == null ? "" : directory.mappablePath());
  }

  @Override
  public Fence fence(int region) {
    return new Fence(regions.get(region).generations().fence(), regions().get(region));
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (listener != null) {
      listener.close().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS);
    }
    if (group != null) {
      // Each to its end first: an event loop that ends with pending I/O leaves it behind, and with
      // it a connection whose client would wait for its deadline.
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
    // Whoever keeps a closed server keeps no memory with it.
    regions = List.of();
    if (directory != null) {
      directory.close();
      dataPath.removeUnused();
    }
  }
}
