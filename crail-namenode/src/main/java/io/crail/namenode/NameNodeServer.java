/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.user.Logins;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCounters;
import io.crail.protocol.OperationServer;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A namenode that serves on an address: the metadata of its share of the tree, in memory. It owns
 * one thread, the timer, unless it was {@linkplain #open opened} without one. Requests run in the
 * transport's threads. Thread-safe.
 */
public final class NameNodeServer implements AutoCloseable {
  /** How often the timer does the periodic work. */
  public static final long TICK_NANOS = 50_000_000;

  private static final Logger LOG = LoggerFactory.getLogger(NameNodeServer.class);
  private static final long JOIN_MILLIS = 10_000;

  private final NameNode namenode;
  private final Keeper keeper;
  private final NameNodeLog log;
  private final Logins logins;
  private final OperationServer operations;
  private final Transport.ServerEndpoint endpoint;
  private final NeighbourCalls neighbours;
  private final Configuration conf;
  private final Transport transport;
  private final RandomGenerator random;
  private final Thread timer;
  private volatile boolean closed;

  private NameNodeServer(
      NameNode namenode,
      Keeper keeper,
      NameNodeLog log,
      Logins logins,
      OperationServer operations,
      Transport.ServerEndpoint endpoint,
      NeighbourCalls neighbours,
      Configuration conf,
      Transport transport,
      RandomGenerator random) {
    this.namenode = namenode;
    this.keeper = keeper;
    this.log = log;
    this.logins = logins;
    this.operations = operations;
    this.endpoint = endpoint;
    this.neighbours = neighbours;
    this.conf = conf;
    this.transport = transport;
    this.random = random;
    this.timer = Threads.daemon(name(namenode) + "-timer", this::runTimer);
  }

  private static String name(NameNode namenode) {
    return "crail-namenode-" + namenode.options().index();
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
    return start(conf, index, count, bind, transport, clock, false);
  }

  /**
   * As {@link #start}, in a process that is only there for this: what needs much memory now and
   * then is done in another process.
   */
  public static NameNodeServer startAlone(
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock)
      throws IOException {
    return start(conf, index, count, bind, transport, clock, true);
  }

  private static NameNodeServer start(
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      boolean isAlone)
      throws IOException {
    requireIndex(index, count);
    LogHome home = LogHome.of(conf, index, isAlone, clock);
    NameNodeServer server =
        open(conf, index, count, bind, transport, clock, new SecureRandom(), home);
    server.startTimer();
    return server;
  }

  /**
   * As {@link #start}, but without a thread. The caller calls {@link #tick} about every {@link
   * #TICK_NANOS}.
   *
   * @param random the source of ids and incarnation
   */
  public static NameNodeServer open(
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      RandomGenerator random)
      throws IOException {
    requireIndex(index, count);
    LogHome home = LogHome.of(conf, index, false, clock);
    return open(conf, index, count, bind, transport, clock, random, home);
  }

  private static void requireIndex(int index, int count) {
    if (count < 1 || index < 0 || index >= count) {
      throw new IllegalArgumentException("namenode " + index + " of " + count);
    }
  }

  /**
   * As the other method.
   *
   * @param home where its log is; the namenode closes it. Null if its metadata end with it
   */
  public static NameNodeServer open(
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      RandomGenerator random,
      LogHome home)
      throws IOException {
    NameNodeServer server = null;
    try {
      server = openIn(home, conf, index, count, bind, transport, clock, random);
      return server;
    } finally {
      if (server == null && home != null) {
        home.close();
      }
    }
  }

  private static NameNodeServer openIn(
      LogHome home,
      Configuration conf,
      int index,
      int count,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      RandomGenerator random)
      throws IOException {
    NeighbourCalls neighbours = new NeighbourCalls(conf, index, clock);
    NameNodeOptions options = NameNodeOptions.of(conf, index, count);
    if (home == null) {
      NameNode namenode = new NameNode(options, clock, random, null, neighbours);
      return serve(conf, namenode, null, Keeper.NONE, neighbours, bind, transport, random);
    }
    NameNodeLog log = NameNodeLog.open(home.directory(), home, options, clock, random, neighbours);
    Keeper keeper =
        new Keeper() {
          @Override
          public boolean tick(NameNode namenode) {
            boolean mayChange = home.tick();
            log.checkpoints().tick(namenode.tree().size());
            return mayChange;
          }

          @Override
          public void close() {
            log.checkpoints().close();
            home.close();
          }
        };
    return serve(conf, log.namenode(), log, keeper, neighbours, bind, transport, random);
  }

  /** Serves what there is. */
  static NameNodeServer serve(
      Configuration conf,
      NameNode namenode,
      NameNodeLog log,
      Keeper keeper,
      NeighbourCalls neighbours,
      InetSocketAddress bind,
      Transport transport,
      RandomGenerator random)
      throws IOException {
    if (log != null) {
      neighbours.commitFirst(log.all(), log::handsOver);
    }
    // The dump shows the endpoint's statistics, so it gets the endpoint once that exists.
    AtomicReference<Transport.ServerEndpoint> listening = new AtomicReference<>();
    Logins logins = Logins.of(conf, namenode.options().user(), namenode.clock());
    OperationServer operations =
        NameNodeService.create(
            namenode, log, keeper.leadership(), logins, () -> statistics(listening.get()));
    Transport.ServerEndpoint endpoint = transport.listen(name(namenode), bind, operations);
    listening.set(endpoint);
    NameNodeServer server =
        new NameNodeServer(
            namenode,
            keeper,
            log,
            logins,
            operations,
            endpoint,
            neighbours,
            conf,
            transport,
            random);
    LOG.info(
        "namenode {} of {} serves on {}",
        namenode.options().index(),
        namenode.options().count(),
        Addresses.text(server.address()));
    return server;
  }

  private static Map<String, Long> statistics(Transport.ServerEndpoint endpoint) {
    return endpoint == null ? Map.of() : endpoint.statistics();
  }

  /**
   * Names the addresses of all namenodes of the cluster, in their order. Until then, no directory
   * can be spread. With one namenode, or a second call, it does nothing.
   */
  public void meet(NamenodeAddresses addresses) {
    neighbours.open(conf, transport, addresses, random);
  }

  /** The address on which it serves, with the real port. */
  public InetSocketAddress address() {
    return endpoint.address();
  }

  /**
   * The contents of a namenode at one moment.
   *
   * @param nodes names in its tree, the root included
   * @param nodesByType the same by type
   * @param leases write leases
   * @param leaseHolders clients that are remembered for these leases
   * @param awaitedWriters writers of removed nodes, and of copies
   * @param smallValueBytes memory outside the heap that small values take
   * @param smallValueLimitBytes memory above which it keeps no more of them
   * @param memoryBytes heap taken by all that the namenode keeps
   * @param memoryLimitBytes heap above which it refuses to keep more
   * @param locatedBytes bytes whose places clients were given so far
   * @param committedBytes bytes that clients have made visible so far
   * @param expiredNodes nodes that were removed at the end of their lifetime so far
   * @param successor whether the nodes of an earlier start of it are gone
   * @param usage the accounts of the classes
   */
  public record Holdings(
      long nodes,
      Map<NodeType, Long> nodesByType,
      int leases,
      int leaseHolders,
      int awaitedWriters,
      long smallValueBytes,
      long smallValueLimitBytes,
      long memoryBytes,
      long memoryLimitBytes,
      long locatedBytes,
      long committedBytes,
      long expiredNodes,
      boolean successor,
      List<ClassUsage> usage) {}

  /** How the peers of this namenode stand. */
  public Leadership leadership() {
    return keeper.leadership();
  }

  /** The index of this namenode among those of the cluster. */
  public int index() {
    return namenode.options().index();
  }

  /** What was counted of an operation so far. */
  public OperationCounters counters(Operation<?, ?> operation) {
    return operations.counters(operation);
  }

  /** Lists of steps that were not done so far, since a step failed with an error. */
  public long failedLists(ErrorCode code) {
    return namenode.rules().compound().failures(code);
  }

  /** The statistics of the transport, see {@link Transport.ServerEndpoint#statistics}. */
  public Map<String, Long> transportStatistics() {
    return endpoint.statistics();
  }

  /** The number of datanodes by their state; those that are gone, while nodes have bytes there. */
  public Map<DatanodeState, Integer> datanodeStates() {
    return namenode.datanodes().states();
  }

  /** The present contents. The work grows with the number of datanodes only. */
  public Holdings holdings() {
    return new Holdings(
        namenode.tree().size(),
        namenode.tree().sizes(),
        namenode.leases().size(),
        namenode.leases().clients(),
        namenode.allocator().awaitedWriters(),
        namenode.smallValues().used(),
        namenode.smallValues().capacity(),
        namenode.budget().used(),
        namenode.budget().capacity(),
        namenode.activity().locatedBytes(),
        namenode.activity().committedBytes(),
        namenode.rules().expiry().expired(),
        namenode.rules().datanodes().isSuccessor(),
        namenode.datanodes().usage());
  }

  /** How its log stands; empty if its metadata end with it. The work is little. */
  public Optional<LogStanding> log() {
    return Optional.ofNullable(log).map(NameNodeLog::standing);
  }

  /**
   * Counts all nodes and all space again, compares, and looks for space that has two owners; for
   * tests, while nothing changes.
   *
   * @throws AssertionError that names what is wrong
   */
  public void verify() {
    namenode.verify();
  }

  /** Does the periodic work. One thread at a time may call it; the timer does if there is one. */
  public void tick() {
    try {
      namenode.tick(keeper.tick(namenode));
    } finally {
      // Others wait for these, also while something here fails in each tick.
      logins.tick();
      neighbours.tick(namenode.standings(), namenode.rules().limits());
    }
  }

  /** Stops serving and ends the timer. Without a log, all metadata are lost. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    endpoint.close();
    neighbours.close();
    LockSupport.unpark(timer);
    try {
      timer.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    keeper.close();
  }

  /** Begins the periodic work. */
  void startTimer() {
    timer.start();
  }

  private void runTimer() {
    while (!closed) {
      try {
        tick();
      } catch (RuntimeException | AssertionError e) {
        // An error at one node must not stop the work for all other nodes.
        LOG.error("the timer of namenode {} failed", namenode.options().index(), e);
      }
      LockSupport.parkNanos(this, TICK_NANOS);
    }
  }
}
