/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/** The keys of the TCP transport. */
public final class NettyKeys implements ConfigKeys {
  /** How sockets are driven. */
  public enum Io {
    /** Epoll where it is available, otherwise NIO. */
    AUTO,
    /** Linux' epoll through Netty's native library. */
    EPOLL,
    /** Linux' io_uring through Netty's native library. */
    IO_URING,
    /** The JDK's selectors. */
    NIO
  }

  /** The I/O back end. */
  public static final ConfigKey<Io> IO =
      ConfigKey.of(
          "crail.tcp.io",
          ConfigType.oneOf(Io.class),
          "auto",
          "How sockets are driven; auto takes epoll and, where there is none, nio. An explicit"
              + " choice that is not available is an error.");

  /** The event loops of a namenode. */
  public static final ConfigKey<Integer> CORES =
      ConfigKey.of(
              "crail.namenode.tcp.cores",
              ConfigType.INT,
              "0",
              "Event loops of a namenode, each with its own connections; 0 means one per processor.")
          .between(0, 1024);

  /** The most connections of a server. */
  public static final ConfigKey<Integer> CONNECTION_LIMIT =
      ConfigKey.of(
              "crail.namenode.tcp.connections",
              ConfigType.INT,
              "16384",
              "The most connections of a namenode; one more is closed at once.")
          .between(1, 1 << 20);

  /** The deadline of a connection's first request. */
  public static final ConfigKey<Duration> HANDSHAKE_TIMEOUT =
      ConfigKey.of(
              "crail.tcp.handshaketimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "10s",
              "A connection whose login has not ended within this time is closed.")
          .check(value -> value.toMillis() < 10 ? "must be at least 10 ms" : null);

  /** The deadline of output that a peer does not take. */
  public static final ConfigKey<Duration> STALL_TIMEOUT =
      ConfigKey.of(
              "crail.tcp.stalltimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "60s",
              "A server closes a connection whose peer has taken nothing of a waiting answer for"
                  + " this time, or has begun a request and not ended it.")
          .check(value -> value.toMillis() < 10 ? "must be at least 10 ms" : null);

  /** The most bytes that wait for a slow peer. */
  public static final ConfigKey<Long> OUTPUT_LIMIT =
      ConfigKey.of(
              "crail.tcp.outputlimit",
              ConfigType.BYTES,
              "4m",
              "Bytes that may wait for a slow peer on one connection. Above it, a server"
                  + " reads no more of the peer's requests, and a client sends no more.")
          .between(64 << 10, 1 << 30);

  /** The most bytes that a server holds for all peers. */
  public static final ConfigKey<Long> HELD_LIMIT =
      ConfigKey.of(
              "crail.tcp.heldlimit",
              ConfigType.BYTES,
              "0",
              "Bytes of memory that a namenode or a datanode may hold for all peers that do"
                  + " not take their answers or do not finish their requests. 0: half of what its"
                  + " JVM may use outside the heap. Each event loop has its share, but at least 2"
                  + " MiB. At most a quarter more is kept for the next use. The less is left, the"
                  + " less one connection gets. From half of the limit on, a peer that makes no"
                  + " progress for 2 s loses its connection.")
          .between(0, 1L << 40);

  /** The kernel's send buffer. */
  public static final ConfigKey<Long> SEND_BUFFER =
      ConfigKey.of(
              "crail.tcp.sendbuffer",
              ConfigType.BYTES,
              "0",
              "The kernel's send buffer of a socket; 0 leaves it to the kernel.")
          .between(0, 1 << 30);

  /** The kernel's receive buffer. */
  public static final ConfigKey<Long> RECEIVE_BUFFER =
      ConfigKey.of(
              "crail.tcp.receivebuffer",
              ConfigType.BYTES,
              "0",
              "The kernel's receive buffer of a socket; 0 leaves it to the kernel.")
          .between(0, 1 << 30);

  @Override
  public String title() {
    return "TCP";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        IO,
        CORES,
        CONNECTION_LIMIT,
        HANDSHAKE_TIMEOUT,
        STALL_TIMEOUT,
        OUTPUT_LIMIT,
        HELD_LIMIT,
        SEND_BUFFER,
        RECEIVE_BUFFER);
  }
}
