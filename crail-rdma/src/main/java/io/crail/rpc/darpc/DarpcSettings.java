/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.verbs.Device;
import java.util.List;
import java.util.function.ToIntFunction;

/** Values of {@link DarpcKeys}. */
record DarpcSettings(
    RdmaSettings rdma,
    int pollSize,
    long connectTimeoutNanos,
    boolean pinned,
    List<Integer> processors,
    int receives,
    int sends,
    int messageSize,
    int inlineBytes,
    int clusterSize,
    int backlog,
    long outputLimit,
    long handshakeTimeoutNanos,
    long stallTimeoutNanos,
    long keepAliveNanos) {
  /** Places begin on a cache line, since the device writes those without reading them first. */
  static final int CACHE_LINE = 64;

  private static final int PAGE = 4096;

  static DarpcSettings of(Configuration values) {
    return new DarpcSettings(
        RdmaSettings.of(values),
        values.get(DarpcKeys.POLL_SIZE),
        values.get(DarpcKeys.CONNECT_TIMEOUT).toNanos(),
        !values.get(DarpcKeys.AFFINITY).equals(DarpcKeys.NOT_PINNED),
        processors(values.get(DarpcKeys.AFFINITY)),
        values.get(DarpcKeys.RECEIVES),
        values.get(DarpcKeys.SENDS),
        values.get(DarpcKeys.MESSAGE_SIZE).intValue(),
        values.get(DarpcKeys.MAX_INLINE),
        values.get(DarpcKeys.CLUSTER_SIZE),
        values.get(DarpcKeys.BACKLOG),
        values.get(DarpcKeys.OUTPUT_LIMIT),
        values.get(DarpcKeys.HANDSHAKE_TIMEOUT).toNanos(),
        values.get(DarpcKeys.STALL_TIMEOUT).toNanos(),
        values.get(DarpcKeys.KEEP_ALIVE).toNanos());
  }

  private static List<Integer> processors(List<String> affinity) {
    return affinity.equals(DarpcKeys.NOT_PINNED)
        ? List.of()
        : affinity.stream().map(Integer::valueOf).toList();
  }

  /** Limits of a client's peers. */
  RpcPeer.Options peerOptions() {
    return RpcPeer.Options.defaults().withConnectTimeoutNanos(connectTimeoutNanos);
  }

  /** The greeting that this side sends to its peers. */
  Greeting greeting() {
    return new Greeting(messageSize, receives);
  }

  /** The size of a connection's queues. */
  QueuePair.Options queues() {
    return new QueuePair.Options(sends, receives, 2, inlineBytes, 0);
  }

  /**
   * The memory that a connection registers, including a chunk for its output, as the kernel counts
   * it.
   */
  long connectionBytes() {
    return lockedBytes(memoryLength()) + lockedBytes(SendChunk.CAPACITY);
  }

  /** The length of a connection's memory in bytes: a place for each message, and the headers. */
  int memoryLength() {
    return receives * placeLength() + sends * Dialect.HEADER_LENGTH + 2 * CACHE_LINE;
  }

  /** The length of the place of an incoming message in bytes. */
  int placeLength() {
    return (messageSize + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  }

  /** Counts whole pages, even if the memory begins and ends within a page. */
  private static long lockedBytes(int bytes) {
    return (bytes - 2L + 2 * PAGE) / PAGE * PAGE;
  }

  /**
   * A warning if the memory does not suffice for all allowed connections; empty if it does.
   *
   * @param limitBytes how much this process may lock
   * @param number of threads of the server
   */
  String memoryWarning(long limitBytes, int threads) {
    long most = (long) threads * clusterSize;
    if (limitBytes / connectionBytes() >= most) {
      return "";
    }
    return "this process may lock "
        + limitBytes
        + " bytes of memory, enough for "
        + limitBytes / connectionBytes()
        + " connections with "
        + connectionBytes()
        + " each, but key '"
        + DarpcKeys.CLUSTER_SIZE.name()
        + "' allows "
        + most
        + " on "
        + threads
        + " threads; raise the limit to "
        + most * connectionBytes()
        + " (ulimit -l, LimitMEMLOCK in systemd, --ulimit memlock=-1 for a container)";
  }

  /** Entries of a server thread's completion queue. */
  int completions() {
    return clusterSize * (sends + receives);
  }

  /**
   * Refuses values that none of these devices allows.
   *
   * @throws ConfigException that names key, value, device and its limit
   */
  void check(List<Device> devices) {
    check(devices, DarpcKeys.RECEIVES, receives, Device::maxQpRequests, "requests in a queue");
    check(devices, DarpcKeys.SENDS, sends, Device::maxQpRequests, "requests in a queue");
    check(
        devices,
        DarpcKeys.CLUSTER_SIZE,
        clusterSize,
        device -> device.maxCqEntries() / (sends + receives),
        "connections on a completion queue, with " + (sends + receives) + " messages each");
  }

  private static void check(
      List<Device> devices,
      ConfigKey<?> key,
      int value,
      ToIntFunction<Device> limit,
      String limited) {
    Device best = null;
    for (Device device : devices) {
      if (best == null || limit.applyAsInt(device) > limit.applyAsInt(best)) {
        best = device;
      }
    }
    if (best != null && value > limit.applyAsInt(best)) {
      throw new ConfigException(
          "key '"
              + key.name()
              + "' is "
              + value
              + "; the device "
              + best.name()
              + " allows at most "
              + limit.applyAsInt(best)
              + " "
              + limited);
    }
  }
}
