/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/** The keys of the transport over RDMA send and receive. */
public final class DarpcKeys implements ConfigKeys {
  /** The most completions of a poll. */
  public static final ConfigKey<Integer> POLL_SIZE =
      ConfigKey.of(
              "crail.namenode.darpc.pollsize",
              ConfigType.INT,
              "32",
              "Completions that a namenode's thread takes with one poll. It serves the"
                  + " requests among them together, connection by connection. With fewer, answers"
                  + " leave earlier; with more, each costs less.")
          .between(1, 4096);

  /** The deadline of a connection attempt. */
  public static final ConfigKey<Duration> CONNECT_TIMEOUT =
      ConfigKey.of(
              "crail.namenode.darpc.connecttimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "2s",
              "Deadline of one attempt to connect to a namenode; also how long a namenode may say"
                  + " nothing before a request that times out takes the connection for dead.")
          .between(Duration.ofMillis(10), Duration.ofMinutes(10));

  /** The value of {@link #AFFINITY} that leaves threads to the kernel. */
  static final List<String> NOT_PINNED = List.of("none");

  /** The processors of a server's threads. */
  public static final ConfigKey<List<String>> AFFINITY =
      ConfigKey.of(
              "crail.namenode.darpc.affinity",
              ConfigType.LIST,
              "",
              "Numbers of processors. A namenode pins one thread, with connections of its"
                  + " own, to each of them. Empty: all processors that the process may use. none: as"
                  + " many threads, on any processor.")
          .check(DarpcKeys::complainAboutProcessors);

  /** The depth of a receive queue. */
  public static final ConfigKey<Integer> RECEIVES =
      ConfigKey.of(
              "crail.namenode.darpc.recvqueue",
              ConfigType.INT,
              "32",
              "Messages that a side can receive on a connection before it has looked at any."
                  + " At both ends, each takes memory of crail.namenode.darpc.messagesize.")
          .between(Credits.LEAST_RECEIVES, Greeting.MOST_RECEIVES);

  /** The depth of a send queue. */
  public static final ConfigKey<Integer> SENDS =
      ConfigKey.of(
              "crail.namenode.darpc.sendqueue",
              ConfigType.INT,
              "32",
              "Messages of a connection that may be on their way to the peer's device.")
          .between(Credits.LEAST_RECEIVES, Greeting.MOST_RECEIVES);

  /** The size of a message. */
  public static final ConfigKey<Long> MESSAGE_SIZE =
      ConfigKey.of(
              "crail.namenode.darpc.messagesize",
              ConfigType.BYTES,
              "4k",
              "Bytes of a message that can be received, with the 4 bytes of its ticket. Crail's own"
                  + " peers exchange theirs; with other DaRPC programs both must have the"
                  + " same: 4 more than the larger one of their request and response, so 72k for the"
                  + " values of up to 64 KiB that the namenode keeps; or lower"
                  + " crail.namenode.smallvalue.")
          .between(Greeting.LEAST_MESSAGE_SIZE, Greeting.MOST_MESSAGE_SIZE);

  /** The most bytes that a send request carries inline. */
  public static final ConfigKey<Integer> MAX_INLINE =
      ConfigKey.of(
              "crail.namenode.darpc.maxinline",
              ConfigType.INT,
              "128",
              "Longest message whose bytes are handed to the device with the request; a device that"
                  + " takes fewer gets fewer.")
          .between(0, 4096);

  /** The most connections of a thread. */
  public static final ConfigKey<Integer> CLUSTER_SIZE =
      ConfigKey.of(
              "crail.namenode.darpc.clustersize",
              ConfigType.INT,
              "256",
              "The most connections of each of a namenode's threads, which is the size of its"
                  + " completion queue; one more is refused.")
          .between(1, 1 << 16);

  /** Connections that wait to be accepted. */
  public static final ConfigKey<Integer> BACKLOG =
      ConfigKey.of(
              "crail.namenode.darpc.backlog",
              ConfigType.INT,
              "128",
              "Connections that may wait to be accepted.")
          .between(1, 1 << 16);

  /** The most bytes that wait for a slow peer. */
  public static final ConfigKey<Long> OUTPUT_LIMIT =
      ConfigKey.of(
              "crail.namenode.darpc.outputlimit",
              ConfigType.BYTES,
              "1m",
              "Bytes that may wait for a slow peer on one connection. Above it, a server"
                  + " serves no more of the peer's requests, and a client sends no more.")
          .between(64 << 10, 1 << 30);

  /** The deadline of a connection's first request. */
  public static final ConfigKey<Duration> HANDSHAKE_TIMEOUT =
      ConfigKey.of(
              "crail.namenode.darpc.handshaketimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "10s",
              "A connection whose login has not ended within this time is closed.")
          .check(DarpcKeys::complainAboutTime);

  /** The deadline of output that a peer does not take. */
  public static final ConfigKey<Duration> STALL_TIMEOUT =
      ConfigKey.of(
              "crail.namenode.darpc.stalltimeout",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "60s",
              "A server closes a connection whose peer has taken nothing of a waiting answer for"
                  + " this time, has begun a request and not ended it, or whose device acknowledges"
                  + " nothing.")
          .check(DarpcKeys::complainAboutTime);

  /** How long a connection may be silent before it is probed. */
  public static final ConfigKey<Duration> KEEP_ALIVE =
      ConfigKey.of(
              "crail.namenode.darpc.keepalive",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "30s",
              "A server sends an RDMA write of zero bytes over a connection that was idle for"
                  + " this time. If the write fails, or is not acknowledged for the stall timeout,"
                  + " the peer is gone.")
          .check(DarpcKeys::complainAboutTime);

  /** Creates the list of keys; for {@link java.util.ServiceLoader}. */
  public DarpcKeys() {}

  private static String complainAboutTime(Duration value) {
    return value.toMillis() < 10 ? "must be at least 10 ms" : null;
  }

  private static String complainAboutProcessors(List<String> numbers) {
    if (numbers.equals(NOT_PINNED)) {
      return null;
    }
    for (String number : numbers) {
      if (!number.matches("\\d{1,4}")) {
        return "must be numbers of processors such as 0,1, or none";
      }
    }
    return null;
  }

  @Override
  public String title() {
    return "RDMA metadata (DaRPC)";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        POLL_SIZE,
        CONNECT_TIMEOUT,
        AFFINITY,
        RECEIVES,
        SENDS,
        MESSAGE_SIZE,
        MAX_INLINE,
        CLUSTER_SIZE,
        BACKLOG,
        OUTPUT_LIMIT,
        HANDSHAKE_TIMEOUT,
        STALL_TIMEOUT,
        KEEP_ALIVE);
  }
}
