/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.daemon;

import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.secret.SecretCredentials;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.LastingBytes;
import io.crail.storage.LocalHost;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A datanode process, or the part of one process that is a datanode: a tier's server, and one
 * thread that keeps it registered with all namenodes. Ends when every namenode has removed it, when
 * its server fails, or when it is closed. Thread-safe.
 */
public final class Datanode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Datanode.class);

  /** Pause between two checks of the server. */
  private static final long LOOK_NANOS = 500_000_000;

  private final UUID uuid;
  private final StorageServer server;
  private final ClientLoop loop;
  private final NameNodeClient namenodes;
  private final Secrets secrets;
  private final Registration registration;
  private final Thread thread;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean registered;
  private boolean stopped;
  private CrailException failure;
  private boolean ended;
  private volatile boolean closed;
  private boolean released;

  private Datanode(
      Configuration configuration,
      StorageServer server,
      DatanodeDescription description,
      Transport transport,
      ClientLoop loop) {
    this.uuid = description.uuid();
    this.server = server;
    this.loop = loop;
    this.secrets = Secrets.of(configuration, Clock.SYSTEM);
    NamenodeAddresses addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    this.namenodes =
        new NameNodeClient(
            loop,
            addresses,
            new NameNodeClient.Identity(
                Hello.ROLE_DATANODE,
                ThreadLocalRandom.current().nextLong(),
                LocalHost.hostName(),
                configuration.get(ClusterKeys.CLUSTER_NAME),
                "",
                SecretCredentials.of(secrets, Principal.Role.DATANODE, LocalHost.hostName())),
            transport.peerOptions(),
            configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos());
    this.thread = Threads.daemon("crail-datanode", this::run);
    this.registration =
        new Registration(
            namenodes,
            description,
            server,
            configuration.get(ClusterKeys.KEEP_ALIVE).toNanos(),
            () -> server.targets().containsValue(false),
            server.kept().orElse(null),
            server::statistics,
            () -> LockSupport.unpark(thread));
  }

  /**
   * Starts the tier's server and begins to register it. Returns before any namenode has answered.
   * The namenodes need not even run yet.
   *
   * @param storageClass the class that it serves, -1 for the tier's position in {@code
   *     crail.storage.types}
   * @param tierArguments the tier's own arguments
   * @param transport of the metadata operations; stays open when this is closed
   * @throws ConfigException for a bad argument or value
   * @throws IOException when the server cannot start; it names the address or directory
   */
  public static Datanode start(
      Configuration configuration,
      StorageTier tier,
      int storageClass,
      List<String> tierArguments,
      Transport transport)
      throws IOException {
    int servedClass = storageClass >= 0 ? storageClass : defaultClass(configuration, tier);
    StorageServer server = tier.createServer(configuration, tierArguments);
    boolean started = false;
    try {
      UUID uuid = UUID.randomUUID();
      server.start(uuid);
      int namenodeCount = configuration.get(ClusterKeys.NAMENODE_ADDRESS).size();
      if (server.regions().size() < namenodeCount) {
        throw new ConfigException(
            "a datanode needs a region for each of the "
                + namenodeCount
                + " namenodes, but tier "
                + tier.name()
                + " made "
                + server.regions().size());
      }
      DatanodeDescription description =
          DatanodeDescription.of(
              uuid,
              tier.name(),
              registeredAddress(configuration, server.address()),
              servedClass,
              server);
      LOG.info("datanode {} of tier {} serves on {}", uuid, tier.name(), server.address());
      if (configuration.get(StorageKeys.KEEP) && server.kept().isEmpty()) {
        LOG.warn("tier {} does not keep its bytes over a restart", tier.name());
      }
      Datanode datanode =
          new Datanode(
              configuration, server, description, transport, transport.newClientLoop("datanode"));
      datanode.thread.start();
      started = true;
      return datanode;
    } finally {
      if (!started) {
        server.close();
      }
    }
  }

  private static int defaultClass(Configuration configuration, StorageTier tier) {
    int position = configuration.get(StorageKeys.TYPES).indexOf(tier.name());
    if (position < 0) {
      throw new ConfigException(
          "tier '"
              + tier.name()
              + "' is not among "
              + StorageKeys.TYPES.name()
              + " "
              + configuration.get(StorageKeys.TYPES)
              + ", so it has no storage class of its own; name one with -c, or add the tier there");
    }
    return position;
  }

  private static InetSocketAddress registeredAddress(
      Configuration configuration, InetSocketAddress served) throws IOException {
    String host = configuration.get(StorageKeys.HOST);
    if (host.isEmpty()) {
      // A server on all addresses still has to name one.
      InetAddress address =
          served.getAddress().isAnyLocalAddress()
              ? LocalHost.address(
                  LocalHost.AUTO, configuration.get(ClusterKeys.NAMENODE_ADDRESS).all())
              : served.getAddress();
      host = address.getHostAddress();
    }
    return InetSocketAddress.createUnresolved(host, served.getPort());
  }

  /** The identity of this datanode. Each start has another. */
  public UUID uuid() {
    return uuid;
  }

  /** How it stands with each namenode, in their order. */
  public List<RegistrationStatus> registrations() {
    return registration.registrations(loop.clock().nanoTime());
  }

  /** The tier's server. */
  public StorageServer server() {
    return server;
  }

  /**
   * Waits until every namenode knows this datanode and its regions.
   *
   * @return false when the time passed first, or this was closed
   * @throws CrailException when a namenode refuses this datanode for good
   */
  public boolean awaitRegistered(long timeoutNanos) throws CrailException, InterruptedException {
    long remaining = timeoutNanos;
    lock.lock();
    try {
      while (!registered && !ended) {
        if (remaining <= 0) {
          return false;
        }
        remaining = changed.awaitNanos(remaining);
      }
      throwFailure();
      return registered;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for the end of this datanode. The caller closes it afterwards.
   *
   * @return true when the namenodes have ended it, false when it was closed
   * @throws CrailException when a namenode refuses this datanode for good, or its server has failed
   */
  public boolean awaitStopped() throws CrailException, InterruptedException {
    lock.lock();
    try {
      while (!ended) {
        // The interval has no meaning of its own: a wait without a deadline would hide a lost
        // signal without end.
        changed.await(1, TimeUnit.MINUTES);
      }
      throwFailure();
      return stopped;
    } finally {
      lock.unlock();
    }
  }

  private void throwFailure() throws CrailException {
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  private void run() {
    CrailException bug = null;
    try {
      while (!closed
          && !registration.isRemoved()
          && registration.refusal() == null
          && server.failure().isEmpty()) {
        followKey();
        long dueNanos = registration.step(loop.clock().nanoTime());
        publish(false, null);
        long waitNanos = Math.min(dueNanos - loop.clock().nanoTime(), LOOK_NANOS);
        if (waitNanos > 0 && !closed) {
          LockSupport.parkNanos(this, waitNanos);
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.error("the datanode's thread failed; it is no longer registered", e);
      bug = ErrorCode.INTERNAL.exception("the datanode's thread failed: " + e);
    } finally {
      publish(true, bug != null ? bug : refusal());
    }
  }

  /**
   * Logs in anew if the file has another key now. Tickets are made from the key of the login, and
   * the server takes those of the present one, and for a time those of the one before.
   */
  private void followKey() {
    if (secrets == null) {
      return;
    }
    List<LoginKey> keys = secrets.keys(Principal.Role.DATANODE, LocalHost.hostName());
    for (int i = 0; i < namenodes.count(); i++) {
      LoginKey used = namenodes.key(i);
      if (used != null && !keys.isEmpty() && !used.isSame(keys.get(0))) {
        namenodes.loginAnew(i);
      }
    }
  }

  private CrailException refusal() {
    return server.failure().map(ErrorCode.UNAVAILABLE::exception).orElse(registration.refusal());
  }

  private void publish(boolean end, CrailException why) {
    boolean nowRegistered = registration.isRegistered();
    lock.lock();
    try {
      if (nowRegistered != registered || end) {
        registered = nowRegistered;
        stopped = registration.isRemoved();
        ended = end;
        failure = why;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends the registration and the tier's server, and removes what it has created. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (released) {
        return;
      }
      released = true;
    } finally {
      lock.unlock();
    }
    closed = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    namenodes.close();
    loop.close();
    if (registration.isRemoved()) {
      // Its data are elsewhere.
      server.kept().ifPresent(LastingBytes::discard);
    }
    server.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
