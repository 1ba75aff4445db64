/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.config.ConfigException;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Netty's classes for one way to drive sockets. */
enum IoBackend {
  EPOLL(EpollSocketChannel.class, EpollServerSocketChannel.class),
  IO_URING(IoUringSocketChannel.class, IoUringServerSocketChannel.class),
  NIO(NioSocketChannel.class, NioServerSocketChannel.class);

  private static final int KEEP_ALIVE_IDLE_SECONDS = 60;
  private static final int KEEP_ALIVE_PAUSE_SECONDS = 10;
  private static final int KEEP_ALIVE_PROBES = 6;

  private static final Logger LOG = LoggerFactory.getLogger(IoBackend.class);

  private final Class<? extends SocketChannel> channel;
  private final Class<? extends ServerChannel> serverChannel;

  IoBackend(Class<? extends SocketChannel> channel, Class<? extends ServerChannel> serverChannel) {
    this.channel = channel;
    this.serverChannel = serverChannel;
  }

  /**
   * The back end of a configuration's value.
   *
   * @throws ConfigException when it was asked for by name and is not available
   */
  static IoBackend of(NettyKeys.Io io) {
    switch (io) {
      case NIO:
        return NIO;
      case EPOLL:
        return available(EPOLL, Epoll.unavailabilityCause());
      case IO_URING:
        return available(IO_URING, IoUring.unavailabilityCause());
      default:
        if (Epoll.isAvailable()) {
          return EPOLL;
        }
        LOG.info("no epoll here ({}); sockets use nio", text(Epoll.unavailabilityCause()));
        return NIO;
    }
  }

  /** Returns the back end, or throws when it is not available. */
  static IoBackend available(IoBackend backend, Throwable obstacle) {
    if (obstacle == null) {
      return backend;
    }
    throw new ConfigException(
        "key '"
            + NettyKeys.IO.name()
            + "' asks for "
            + backend.name().toLowerCase(java.util.Locale.ROOT)
            + ", which is not available here: "
            + text(obstacle),
        obstacle);
  }

  private static String text(Throwable obstacle) {
    Throwable root = obstacle;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage() == null ? root.toString() : root.getMessage();
  }

  Class<? extends SocketChannel> channel() {
    return channel;
  }

  Class<? extends ServerChannel> serverChannel() {
    return serverChannel;
  }

  /** True when the threads that use an I/O handler may change. */
  boolean mayChangeThreads() {
    return this != IO_URING;
  }

  /** True when an event loop may poll without ever waiting. */
  boolean maySpin() {
    return this != IO_URING;
  }

  /**
   * The options with which the kernel notices within about two minutes that a peer is gone without
   * closing the connection.
   */
  Map<ChannelOption<Integer>, Integer> keepAlive() {
    switch (this) {
      case EPOLL:
        return Map.of(
            EpollChannelOption.TCP_KEEPIDLE, KEEP_ALIVE_IDLE_SECONDS,
            EpollChannelOption.TCP_KEEPINTVL, KEEP_ALIVE_PAUSE_SECONDS,
            EpollChannelOption.TCP_KEEPCNT, KEEP_ALIVE_PROBES);
      case IO_URING:
        return Map.of(
            IoUringChannelOption.TCP_KEEPIDLE, KEEP_ALIVE_IDLE_SECONDS,
            IoUringChannelOption.TCP_KEEPINTVL, KEEP_ALIVE_PAUSE_SECONDS,
            IoUringChannelOption.TCP_KEEPCNT, KEEP_ALIVE_PROBES);
      default:
        return Map.of(
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), KEEP_ALIVE_IDLE_SECONDS,
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), KEEP_ALIVE_PAUSE_SECONDS,
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), KEEP_ALIVE_PROBES);
    }
  }

  /** Makes I/O handlers with a way of waiting; io_uring has only its own way. */
  IoHandlerFactory newFactory(SelectStrategyFactory strategy) {
    switch (this) {
      case EPOLL:
        return EpollIoHandler.newFactory(0, strategy);
      case NIO:
        return NioIoHandler.newFactory(SelectorProvider.provider(), strategy);
      default:
        return IoUringIoHandler.newFactory();
    }
  }
}
