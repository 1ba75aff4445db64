/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Addresses;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.WaitKeys;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.SelectStrategy;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How sockets are made, by the configuration: their back end, options and memory, and how their
 * loops wait. Also the words for what fails. Thread-safe.
 */
public final class NettySockets {
  private static final int ACCEPT_BACKLOG = 1024;
  private static final Pattern SYSTEM_CALL =
      Pattern.compile("\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: (.*)");

  // Our own limits hold output back. Netty's limits would only cause events.
  private static final WriteBufferWaterMark NO_WATER_MARK =
      new WriteBufferWaterMark(Integer.MAX_VALUE - 1, Integer.MAX_VALUE);

  /** The connections of a loop may hold at least this many bytes, which is a few chunks. */
  private static final long LEAST_HELD = 2 << 20;

  private final Configuration configuration;
  private final ByteBufAllocator memory;
  private final IoBackend backend;

  /**
   * Reads the configuration.
   *
   * @throws ConfigException when the I/O back end that was asked for is not available
   */
  NettySockets(Configuration configuration, ByteBufAllocator memory) {
    this.configuration = configuration;
    this.memory = memory;
    this.backend = IoBackend.of(configuration.get(NettyKeys.IO));
  }

  /** The handler of an event loop, which waits by {@code parking} unless it never sleeps. */
  IoHandler newHandler(ThreadAwareExecutor executor, SelectStrategy parking) {
    // The loop polls without ever waiting, but runs its tasks between two polls.
    SelectStrategy spinning = (selectNow, hasTasks) -> selectNow.get();
    SelectStrategy strategy = isSpinning() ? spinning : parking;
    return backend.newFactory(() -> strategy).newHandler(executor);
  }

  /**
   * Makes the way in which a loop waits that must not spin without end.
   *
   * @param always whether the loop expects more after each event
   */
  BriefPolling newPolling(boolean always) {
    return new BriefPolling(isSpinning() ? 0 : configuration.get(WaitKeys.SPIN_TIME), always);
  }

  /** A bootstrap for a server on these event loops; the child handler is missing. */
  ServerBootstrap newServerBootstrap(EventLoopGroup group) {
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

  /** Whether loops poll without ever sleeping. */
  boolean isSpinning() {
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

  long outputLimit() {
    return configuration.get(NettyKeys.OUTPUT_LIMIT);
  }

  ByteBufAllocator memory() {
    return memory;
  }

  /** The most bytes that each of a server's {@code loops} loops holds for its peers. */
  long heldLimit(int loops) {
    long limit = configuration.get(NettyKeys.HELD_LIMIT);
    long all = limit == 0 ? PlatformDependent.estimateMaxDirectMemory() / 2 : limit;
    return Math.max(all / loops, LEAST_HELD);
  }

  /** The other side of a channel, for messages. */
  static String peer(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress address
        ? Addresses.text(address.getAddress().getHostAddress(), address.getPort())
        : String.valueOf(channel.remoteAddress());
  }

  /**
   * Makes a sentence for people from any exception: the system's message, without the name of the
   * system call and without an address, which the caller adds.
   */
  public static String text(Throwable cause) {
    if (cause instanceof ConnectTimeoutException) {
      return "no connection in time";
    }
    // Netty wraps the system's exception in order to add the address.
    boolean annotated = cause instanceof SocketException && cause.getCause() instanceof IOException;
    Throwable said = annotated ? cause.getCause() : cause;
    if (said.getMessage() == null) {
      return said.toString();
    }
    Matcher matcher = SYSTEM_CALL.matcher(said.getMessage());
    String text = matcher.matches() ? matcher.group(1) : said.getMessage();
    return said instanceof IOException && text.length() > 1 && Character.isLowerCase(text.charAt(1))
        ? Character.toLowerCase(text.charAt(0)) + text.substring(1)
        : text;
  }
}
