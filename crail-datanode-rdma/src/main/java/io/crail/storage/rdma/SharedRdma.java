/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.loop.Sweepable;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.rpc.rdma.memory.RegistrationCache;
import io.crail.rpc.rdma.memory.UserMemory;
import io.crail.storage.StorageClient;
import io.crail.storage.network.NetworkEndpoint;
import io.crail.verbs.Verbs;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What the endpoints of a client share, above all the users' memory that is registered with each
 * device. Used in the loop, except for the settings and {@link #close}.
 */
final class SharedRdma implements Sweepable {
  /** Two cache lines: the bytes that a device takes inline without a larger request. */
  private static final int INLINE_BYTES = 64;

  private final ClientLoop loop;
  private final StorageClient.Context context;
  private final RdmaSettings settings;
  private final int depth;
  private final int copyLimit;
  private final boolean writeFlush;
  private final long registrationLimit;
  private final long connectTimeoutNanos;
  private final QueuePair.Options options;
  private final List<NetworkEndpoint<?>> active = new ArrayList<>();
  private RdmaLoop rdma;
  private UserMemory memory;
  private boolean closed;

  /**
   * Reads the settings, without looking for a device.
   *
   * @throws ConfigException when values contradict each other
   */
  SharedRdma(StorageClient.Context context) {
    final Configuration configuration = context.configuration();
    this.loop = context.loop();
    this.context = context;
    this.settings = RdmaSettings.of(configuration);
    this.depth = configuration.get(RdmaStorageKeys.QUEUE_DEPTH);
    this.copyLimit = configuration.get(RdmaStorageKeys.COPY_LIMIT);
    this.writeFlush = configuration.get(RdmaStorageKeys.WRITE_FLUSH);
    this.registrationLimit = configuration.get(RdmaStorageKeys.REGISTRATION_LIMIT);
    this.connectTimeoutNanos = configuration.get(RdmaStorageKeys.CONNECT_TIMEOUT).toNanos();
    // Each transfer may be a write with a read after it. Nothing is ever received.
    this.options = new QueuePair.Options(2 * depth, 1, 1, INLINE_BYTES, Verbs.MOST_READS);
    if (2 * depth + 1 > settings.completions()) {
      throw new ConfigException(
          "key '"
              + RdmaStorageKeys.QUEUE_DEPTH.name()
              + "' is "
              + depth
              + "; a connection then needs "
              + (2 * depth + 1)
              + " completions, but key '"
              + RdmaKeys.CLIENT_COMPLETIONS.name()
              + "' is "
              + settings.completions());
    }
  }

  /** Closes the active endpoints, and gives the memory back. By any thread. */
  void close() {
    loop.submit(this::closeInLoop);
  }

  ClientLoop loop() {
    return loop;
  }

  /** Identity of the store, the same as to namenodes. */
  long clientId() {
    return context.clientId();
  }

  /**
   * Begins the login of a connection, which has one message.
   *
   * @param datanode the datanode process
   * @throws CrailException when there is no first message
   */
  ClientLogin newLogin(UUID datanode) throws CrailException {
    return new ClientLogin(
        context.credentials().at(datanode, true), Claim.ofClient(context.clientId()));
  }

  int depth() {
    return depth;
  }

  int copyLimit() {
    return copyLimit;
  }

  boolean writeFlush() {
    return writeFlush;
  }

  long connectTimeoutNanos() {
    return connectTimeoutNanos;
  }

  QueuePair.Options options() {
    return options;
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * The loop's RDMA.
   *
   * @throws CrailException with UNSUPPORTED when there is none
   */
  RdmaLoop rdma() throws CrailException {
    if (rdma == null) {
      rdma = RdmaLoop.of(loop, settings);
      loop.register(this);
      memory =
          new UserMemory(
              rdma,
              UserMemory.Access.OWN,
              registrationLimit,
              RdmaStorageKeys.REGISTRATION_LIMIT.name());
    }
    return rdma;
  }

  /** Counts a transfer that is in flight. */
  void begun() {
    rdma.begun();
  }

  /** Counts the end of a transfer. */
  void ended() {
    rdma.ended();
  }

  /** The users' memory that is registered with a device. */
  RegistrationCache registrations(RdmaDevice device) {
    return memory.of(device);
  }

  /** Called when an endpoint becomes active. */
  void activated(NetworkEndpoint<?> endpoint) {
    active.add(endpoint);
    loop.register(endpoint);
  }

  /** Called when an endpoint has neither transfers nor a connection any more. */
  void deactivated(NetworkEndpoint<?> endpoint) {
    active.remove(endpoint);
    loop.unregister(endpoint);
  }

  @Override
  public void sweep(long nowNanos) {}

  @Override
  public void loopClosing() {
    closeInLoop();
  }

  private void closeInLoop() {
    if (closed) {
      return;
    }
    closed = true;
    for (NetworkEndpoint<?> endpoint : List.copyOf(active)) {
      endpoint.close();
    }
    if (rdma != null) {
      memory.close();
      loop.unregister(this);
    }
  }
}
