/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Addresses;
import io.crail.common.Clock;
import io.crail.common.NamenodeAddresses;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.namenode.LogHome;
import io.crail.namenode.NameNodeServer;
import io.crail.namenode.StandbyNamenode;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.Lead;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One peer of a namenode that has several: it leads, and serves, or makes the changes of the one
 * that does. A peer that leads no more begins anew from its copy of the records, which has nothing
 * that the others do not have. Thread-safe.
 */
public final class ReplicatedNamenode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicatedNamenode.class);
  private static final long TICK_MILLIS = 50;

  /** How many places there are between two snapshots at which one may end. */
  private static final int MARKS = 20;

  /** A part of the time in which no other peer is elected, since clocks differ a little. */
  private static final double LEASE_SHARE = 0.8;

  private final Configuration conf;
  private final int index;
  private final int peer;
  private final NamenodeAddresses addresses;
  private final InetSocketAddress bind;
  private final Transport transport;
  private final Clock clock;
  private final Listener listener;
  private final PeerCopy copy;
  private final PeerLimits limits;
  private final ExecutorService sending;
  private final ExecutorService changing;
  private final ScheduledExecutorService timer;
  private final PeerWatch watch;
  private final Path peersDirectory;

  /** Made before anything else that uses it. */
  private Entrance entrance;

  // Null until this peer takes part.
  private volatile RaftPeers raft;
  private volatile LeadMoves moves;

  // Written under the monitor.
  private volatile LeaderLog leading;
  private volatile boolean isClosed;

  private volatile StandbyNamenode node;

  private volatile NameNodeServer server;

  // Under the monitor.
  private Transport.ServerEndpoint standing;

  /** Learns when this peer begins to serve. */
  @FunctionalInterface
  public interface Listener {
    /** This peer serves from now on, until another one does. */
    void serves(NameNodeServer server);
  }

  /**
   * Starts a peer.
   *
   * @param conf its configuration, which names all peers
   * @param index which of the cluster's namenodes it is a peer of
   * @param peer which of the peers it is, from 0
   * @param bind the address to serve on
   * @param transport carries the requests; the caller closes it, after the peer
   * @param listener learns when it serves
   * @throws IOException that names the address or the file that cannot be used
   */
  public static ReplicatedNamenode start(
      Configuration conf,
      int index,
      int peer,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      Listener listener)
      throws IOException {
    return start(conf, index, peer, bind, transport, clock, listener, PeerLimits.USUAL);
  }

  /** As the other method, with other limits. */
  static ReplicatedNamenode start(
      Configuration conf,
      int index,
      int peer,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      Listener listener,
      PeerLimits limits)
      throws IOException {
    if (conf.get(NameNodeKeys.DURABILITY) != Durability.SYNC
        || conf.get(NameNodeKeys.DATA_PATH).isEmpty()) {
      throw new ConfigException(
          "a namenode with standbys needs "
              + NameNodeKeys.DURABILITY.name()
              + " sync and "
              + NameNodeKeys.DATA_PATH.name());
    }
    ReplicatedNamenode made =
        new ReplicatedNamenode(conf, index, peer, bind, transport, clock, listener, limits);
    try {
      made.open();
      return made;
    } catch (IOException | RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private ReplicatedNamenode(
      Configuration conf,
      int index,
      int peer,
      InetSocketAddress bind,
      Transport transport,
      Clock clock,
      Listener listener,
      PeerLimits limits)
      throws IOException {
    this.conf = conf;
    this.index = index;
    this.peer = peer;
    this.addresses = conf.get(ClusterKeys.NAMENODE_ADDRESS);
    this.bind = bind;
    this.transport = new PatientTransport(transport);
    this.clock = clock;
    this.listener = listener;
    this.limits = limits;
    Path parent = Path.of(conf.get(NameNodeKeys.DATA_PATH));
    this.peersDirectory = parent.resolve("namenode-" + index + LogHome.PEERS);
    this.copy = new PeerCopy(conf, index, parent.resolve("namenode-" + index), clock, limits);
    String name = "crail-namenode-" + index;
    this.sending = Executors.newSingleThreadExecutor(Threads.factory(name + "-entries"));
    this.changing = Executors.newSingleThreadExecutor(Threads.factory(name + "-lead"));
    this.timer = Executors.newSingleThreadScheduledExecutor(Threads.factory(name + "-lease"));
    int count = addresses.peers(index).size();
    this.watch = new PeerWatch(index, peer, count, clock, conf.get(StandbyKeys.ELECTION));
  }

  private void open() throws IOException {
    copy.files().recover();
    Membership.Records records = copy.records();
    entrance = new Entrance(conf, index, peer, peersDirectory, records, transport, clock);
    boolean isIn = entrance.membership().takesPart();
    if (!isIn && records == Membership.Records.LONE) {
      copy.requireWhole();
    }
    if (isIn) {
      takePart();
    } else {
      synchronized (this) {
        stand();
      }
    }
    timer.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    entrance.execute(() -> enter(isIn));
  }

  /** Waits for the others, where that is needed. */
  private void enter(boolean isIn) {
    try {
      if (!isIn && entrance.await()) {
        takePart();
      }
      // One that was being taken in when it ended may count by its own log alone.
      boolean joins = entrance.membership().joins();
      if (raft != null && (joins ? !raft.isMember() : !raft.counts())) {
        entrance.awaitMember(raft::isMember);
      }
    } catch (InterruptedException | IOException | RuntimeException | Error e) {
      if (!isClosed) {
        LOG.error("peer {} of namenode {} cannot take part", peer, index, e);
        Threads.dies(e);
      }
    }
  }

  /** Makes the changes of the others from now on, and may lead. */
  private void takePart() throws IOException {
    try {
      Membership own = entrance.membership();
      if (own.joins() && !own.isStarted()) {
        copy.files().clear();
      }
      copy.begin();
      boolean isFirst = own.beginsAlone() && !own.isStarted();
      PeerMachine machine =
          new PeerMachine(new Follower(), limits.snapshotEntries() / MARKS, isFirst);
      RaftPeers made = new RaftPeers(conf, index, own, peersDirectory, machine, limits, clock);
      Replacements replacements = new Replacements(made, conf, index, peer, clock, changing);
      watch.takesPart(made, machine, replacements::joins);
      synchronized (this) {
        raft = made;
        moves =
            new LeadMoves(
                made, index, peer, watch, changing, () -> leading, replacements, entrance);
        follow();
      }
      TornLog.requireEntries(peersDirectory, isFirst ? 0 : last());
      made.start();
      entrance.started();
    } catch (IOException e) {
      throw entrance.advised(e, copy.files().directory());
    }
  }

  /** Begins from the copy, and answers that another peer serves. */
  private void follow() throws IOException {
    node = copy.read();
    stand();
  }

  private void stand() throws IOException {
    if (standing == null) {
      standing =
          transport.listen("crail-namenode-" + index, bind, new StandbyService(entrance::answer));
      String address = Addresses.text(standing.address());
      LOG.info("peer {} of namenode {} is a standby at {}", peer, index, address);
    }
  }

  private void tick() {
    try {
      LeaderLog log = leading;
      if (log != null) {
        log.tick();
        if (log.isNewlyStalled()) {
          moves.giveUp(log);
        }
      }
      watch.tick(log != null && !log.hasFailed());
      if (raft != null) {
        raft.tick();
      }
      synchronized (this) {
        if (!isClosed && node != null) {
          node.tick();
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.error("the timer of peer {} of namenode {} failed", peer, index, e);
    }
  }

  /** Whether this peer serves. */
  public synchronized boolean leads() {
    return server != null && !leading.hasFailed();
  }

  /** The number of the last record on which the peers have agreed, and which this one has. */
  public synchronized long last() {
    return node == null ? 0 : node.last();
  }

  /** Whether this peer counts, so that it may vote and lead. */
  boolean isMember() {
    RaftPeers present = raft;
    return present != null && entrance.membership().isStarted() && present.isMember();
  }

  /** The namenode that serves; null if another peer does. */
  public NameNodeServer server() {
    return server;
  }

  /** How this peer stands. Waits for nothing that takes long. */
  public PeerStanding standing() {
    LeaderLog log = leading;
    return watch.standing(server == null || log == null || log.hasFailed() ? null : log, node);
  }

  private synchronized void lead(long term) {
    if (isClosed || (leading != null && leading.term() == term) || !raft.leadsIn(term)) {
      return;
    }
    try {
      if (leading != null) {
        stepDown();
      }
      LeaderLog log =
          new LeaderLog(
              term,
              node.last(),
              clock,
              sending,
              watch,
              (long) (LEASE_SHARE * conf.get(StandbyKeys.ELECTION).toNanos()),
              node::refusal,
              () -> {
                if (!isClosed) {
                  changing.execute(() -> ended(term));
                }
              },
              () -> Threads.dies(new IOException("a change could not be logged")));
      standing.close();
      standing = null;
      leading = log;
      server = node.serve(log, moves, bind, transport);
      server.meet(addresses);
      watch.serves();
      listener.serves(server);
      LOG.info("peer {} of namenode {} leads in term {}", peer, index, term);
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("peer {} of namenode {} cannot serve", peer, index, e);
      Threads.dies(e);
    }
  }

  /** Called under locks of Ratis, so it must not wait for the monitor. */
  private void leadsNoMore() {
    LeaderLog log = leading;
    if (log != null) {
      log.end("another peer leads");
    }
  }

  /** The log of this peer has ended, since the lead is lost, or an entry was not agreed on. */
  private void ended(long term) {
    if (isClosed) {
      return;
    }
    synchronized (this) {
      if (leading == null || leading.term() != term) {
        return;
      }
      stepDown();
    }
    try {
      if (raft.leadsIn(term)) {
        // Its entries are dropped, so it must not go on in this term.
        raft.move(Lead.NONE);
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("peer {} of namenode {} still leads", peer, index, e);
      Threads.dies(e);
    }
  }

  /** Drops what was not agreed on, with all the state, and follows. */
  private void stepDown() {
    try {
      leading.end("another peer leads");
      closeServing();
      node.close();
      follow();
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("peer {} of namenode {} cannot follow", peer, index, e);
      Threads.dies(e);
    }
  }

  private void closeServing() {
    if (server != null) {
      server.close();
      server = null;
    }
    leading = null;
  }

  /** Ends this peer. The others go on without it. */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    LeaderLog log = leading;
    if (log != null) {
      log.end("this peer ends");
    }
    if (entrance != null) {
      entrance.close();
    }
    if (raft != null) {
      raft.close();
    }
    timer.shutdownNow();
    changing.shutdown();
    synchronized (this) {
      closeServing();
      if (standing != null) {
        standing.close();
        standing = null;
      }
      try (PeerCopy closed = copy) {
        if (node != null) {
          node.close();
        }
      } catch (IOException e) {
        LOG.warn("the log was not closed: {}", e.toString());
      }
    }
    sending.shutdown();
  }

  /** Receives what the peers agree on, in one thread of Ratis. */
  private final class Follower implements PeerMachine.Peer {
    @Override
    public void agreed(long term, LogEntry entry) throws IOException {
      copy.awaitRoom(() -> isClosed);
      watch.heard();
      synchronized (ReplicatedNamenode.this) {
        if (entry.term() != term) {
          // Sent by a leader that had lost the lead, and has it again. It has dropped the changes.
          LOG.warn("an entry of term {} in term {} is dropped", entry.term(), term);
          return;
        }
        boolean isOwn = leading != null && leading.term() == term;
        if (leading != null && !isOwn) {
          stepDown();
        }
        long last = node.last();
        if (entry.first() > last + 1) {
          throw new IOException("record " + entry.first() + " follows " + last);
        }
        entry.visit(last + 1, node::take);
        if (isOwn) {
          leading.agreed(entry.last());
        }
      }
    }

    @Override
    public void elected() {
      watch.elected();
    }

    @Override
    public void leads() {
      lead(raft.term());
    }

    @Override
    public void leadsNoMore() {
      ReplicatedNamenode.this.leadsNoMore();
    }

    @Override
    public long last() {
      return ReplicatedNamenode.this.last();
    }

    @Override
    public long closed() {
      return copy.closed();
    }

    @Override
    public List<Path> linkTo(Path target) throws IOException {
      synchronized (ReplicatedNamenode.this) {
        return copy.linkTo(target);
      }
    }

    @Override
    public void install(Path source) throws IOException {
      synchronized (ReplicatedNamenode.this) {
        LOG.info("peer {} of namenode {} takes over files of another one", peer, index);
        node = copy.install(source);
      }
    }

    @Override
    public void ended(Throwable cause) {
      if (!isClosed) {
        LOG.error("peer {} of namenode {} cannot go on", peer, index, cause);
        Threads.dies(cause);
      }
    }
  }
}
