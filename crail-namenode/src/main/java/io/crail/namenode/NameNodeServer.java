/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namenode that serves on an address: the metadata of its share of the tree, in memory. It owns
 * one thread, the timer; requests run in the transport's threads. Thread-safe.
 */
public final class NameNodeServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NameNodeServer.class);
  private static final long TICK_NANOS = 50_000_000;
  private static final long JOIN_MILLIS = 10_000;

  private final NameNode namenode;
  private final Transport.ServerEndpoint endpoint;
  private final Thread timer;
  private volatile boolean closed;

  private NameNodeServer(NameNode namenode, Transport.ServerEndpoint endpoint, String name) {
    this.namenode = namenode;
    this.endpoint = endpoint;
    this.timer = new Thread(this::runTimer, name + "-timer");
    timer.setDaemon(true);
  }

  /**
   * Starts a namenode.
   *
   * @param conf its configuration
   * @param index which of the cluster's namenodes it is, from 0
   * @param count how many there are
   * @param bind the address to serve on; port 0 takes a free one
   * @param transport carries the requests; the caller closes it, after the namenode
   * @param clock the clock of leases
   * @throws IOException that names the address when it cannot be bound
   * @throws ConfigException when values contradict each other
   */
  public static NameNodeServer start(
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock)
      throws IOException {
    if (count < 1 || index < 0 || index >= count) {
      throw new IllegalArgumentException("namenode " + index + " of " + count);
    }
    String name = "crail-namenode-" + index;
    NameNode namenode =
        new NameNode(NameNodeOptions.of(conf, index, count), clock, new SecureRandom());
    // The dump shows what the endpoint counts, so it gets the endpoint once there is one.
    AtomicReference<Transport.ServerEndpoint> listening = new AtomicReference<>();
    Transport.ServerEndpoint endpoint =
        transport.listen(
            name, bind, NameNodeService.create(namenode, () -> figures(listening.get())));
    listening.set(endpoint);
    NameNodeServer server = new NameNodeServer(namenode, endpoint, name);
    server.timer.start();
    LOG.info("namenode {} of {} serves on {}", index, count, Addresses.text(server.address()));
    return server;
  }

  private static Map<String, Long> figures(Transport.ServerEndpoint endpoint) {
    return endpoint == null ? Map.of() : endpoint.statistics();
  }

  /** The address it serves on, with the real port. */
  public InetSocketAddress address() {
    return endpoint.address();
  }

  /** Stops serving and ends the timer. What the namenode knew is gone. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    endpoint.close();
    LockSupport.unpark(timer);
    try {
      timer.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void runTimer() {
    while (!closed) {
      try {
        namenode.tick();
      } catch (RuntimeException | AssertionError e) {
        // One broken node must not end the leases of all others.
        LOG.error("the timer of namenode {} failed", namenode.options().index(), e);
      }
      LockSupport.parkNanos(this, TICK_NANOS);
    }
  }
}
