/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.DatanodeApplier;
import io.crail.namenode.change.Locks;
import io.crail.namenode.change.ReturningDatanodes;
import io.crail.namenode.change.State;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.query.DatanodeReports;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.CutOffs;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.Datanodes;
import io.crail.protocol.cluster.AnnounceSpace;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.Region;
import io.crail.rpc.login.Caller;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which datanodes lend space, with which regions, and what each may be used for, from its
 * registration until it is forgotten. What is heard of the life of a datanode is no change; what is
 * concluded from it is one. Thread-safe.
 */
public final class DatanodeRule {
  private static final Logger LOG = LoggerFactory.getLogger(DatanodeRule.class);
  // Log lines about datanodes at once, since all datanodes of a cluster start at the same time.
  private static final int LOG_BURST = 64;

  private final NameNodeOptions options;
  private final Clock clock;
  private final State state;
  private final Datanodes datanodes;
  private final Allocator allocator;
  private final Locks locks;
  private final DatanodeApplier applier;
  private final ReturningDatanodes returns;
  private final DatanodeReports reports;
  private final RateLimitedLog log;
  // What was logged, so that it is logged once. Guarded by the lock of the datanodes.
  private final Set<Integer> reportedOffline = new HashSet<>();
  private final Set<Integer> contested = new HashSet<>();
  private volatile boolean successor;

  public DatanodeRule(
      NameNodeOptions options,
      State state,
      Locks locks,
      DatanodeApplier applier,
      DatanodeReports reports,
      Clock clock) {
    this.options = options;
    this.clock = clock;
    this.state = state;
    this.datanodes = state.datanodes();
    this.allocator = state.space();
    this.locks = locks;
    this.applier = applier;
    this.returns = new ReturningDatanodes(options, state, applier);
    this.reports = reports;
    this.log = new RateLimitedLog(LOG, clock, LOG_BURST);
  }

  /**
   * Whether an earlier start of this namenode had space of its datanodes, so its nodes are gone.
   */
  public boolean isSuccessor() {
    return successor;
  }

  /** Notes what the records have said of datanodes that are there. */
  public void replayed() {
    successor = datanodes.all().stream().anyMatch(each -> each.description().lentBefore());
  }

  /**
   * Registers a datanode, or confirms it. Returns its id.
   *
   * @param caller who asks
   */
  public int register(RegisterDatanode.Request request, Caller caller) throws CrailException {
    RegisterDatanode.Description description = request.description();
    requireClass(description.storageClass());
    if (description.port() < 1 || description.port() > 65535) {
      throw ErrorCode.INVALID_ARGUMENT.exception("port " + description.port());
    }
    return locks.ofDatanodes(() -> decide(request)).id();
  }

  /** Notes that somebody starts datanodes when space runs out. */
  public AnnounceSpace.Response announce(AnnounceSpace.Request request) throws CrailException {
    int storageClass = request.storageClass();
    requireClass(storageClass);
    if (request.millis() < 0 || request.millis() > AnnounceSpace.MAX_MILLIS) {
      throw ErrorCode.INVALID_ARGUMENT.exception("for " + request.millis() + " ms");
    }
    allocator.announce(storageClass, request.millis());
    return new AnnounceSpace.Response(storageClass);
  }

  private void requireClass(int storageClass) throws CrailException {
    if (storageClass < 0 || storageClass >= options.storageClasses()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "storage class " + storageClass + ", there are " + options.storageClasses());
    }
  }

  private DatanodeSpace decide(RegisterDatanode.Request process) throws CrailException {
    long now = clock.nanoTime();
    RegisterDatanode.Description request = process.description();
    if (request.lentBefore() && !successor) {
      successor = true;
      LOG.warn("datanodes have lent their space to an earlier namenode: its nodes are gone");
    }
    DatanodeSpace known = datanodes.find(request.uuid());
    if (known != null) {
      if (!known.description().describesAs(request)) {
        throw ErrorCode.INVALID_ARGUMENT.exception(known + " registers with other values");
      }
      known.signs().seen(now);
      return known;
    }
    DatanodeSpace kept = returns.find(process, now);
    if (kept == null && datanodes.isFull()) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(datanodes.all().size() + " datanodes");
    }
    // One may have been at the address, and another on the devices.
    DatanodeSpace old;
    while ((old = predecessor(request, kept)) != null) {
      requireGone(old, request, now);
      bury(old, "was replaced by another process");
    }
    if (kept != null) {
      kept.keeping().comes(process, kept.regions());
      comeBackIfWhole(kept, now);
      return kept;
    }
    DatanodeSpace datanode =
        new DatanodeSpace(
            datanodes.newId(),
            state.hosts().add(request.host()),
            request,
            options.blockSize(),
            now,
            state.budget());
    applier.add(datanode);
    if (process.keeps()) {
      applier.keep(datanode, datanode.host(), process);
    }
    log.info(datanode + (request.draining() ? " registered, and is being removed" : " registered"));
    return datanode;
  }

  private void comeBackIfWhole(DatanodeSpace datanode, long now) throws CrailException {
    if (returns.isBack(datanode, now)) {
      reportedOffline.remove(datanode.id());
      log.info(datanode + " is back with the bytes that it kept");
    }
  }

  /**
   * Registers or confirms a region. Returns the number of its blocks.
   *
   * @param caller who asks
   */
  public long register(RegisterRegion.Request request, Caller caller) throws CrailException {
    locks.ofDatanodes(
        () -> {
          decide(request);
          return null;
        });
    return request.length() / options.blockSize();
  }

  private void decide(RegisterRegion.Request request) throws CrailException {
    DatanodeSpace datanode = datanodes.require(request.datanode());
    if (Integer.remainderUnsigned(request.index(), options.count()) != options.index()) {
      throw ErrorCode.WRONG_NAMENODE.exception(
          "region " + request.index() + " of datanode " + datanode.id());
    }
    requireKnown(datanode);
    if (!datanode.keeping().isOf(request.start())) {
      // It was under way when another process took the place of its sender.
      throw Datanodes.unknown(datanode.id());
    }
    boolean isComing = datanode.keeping().coming() != null;
    if (!isComing) {
      datanode.signs().seen(clock.nanoTime());
    }
    if (!datanode.isStopped() && datanode.wasLentElsewhere(request.index(), request.generation())) {
      // The other namenode's clients may have overwritten the data that this namenode knows.
      bury(datanode, "has lent its space to another namenode meanwhile");
      throw Datanodes.unknown(datanode.id());
    }
    Region region = new Region(request.index(), request.length(), request.address(), request.key());
    Region known = datanode.region(region.index());
    // A stopped datanode may have lent the region to another namenode.
    if (known != null && (known.equals(region) || datanode.isStopped() || isComing)) {
      returns.brought(datanode, known, region);
      comeBackIfWhole(datanode, clock.nanoTime());
      return;
    }
    if (known != null && datanode.keeping().keeps()) {
      // This namenode has restarted since the process began to come back.
      throw Datanodes.unknown(datanode.id());
    }
    datanode.admit(region, request.generation());
    long restNanos = request.generation() == 0 ? 0 : allocator.restNanos(datanode);
    applier.add(datanode, region, request.generation(), restNanos);
    if (restNanos > 0 && datanode.restingBytes() == region.length()) {
      LOG.info("{} was in use; its space rests for {} ms", datanode, restNanos / 1_000_000);
    }
  }

  /**
   * Notes that a datanode has cut off clients. Space that waited for this becomes free.
   *
   * @param sign names the list of clients; ignored unless it is the list of the last answer
   */
  public void haveCutOff(KeepAlive.Request sign) {
    // So that it is not forgotten in between.
    locks.ofDatanodes(
        () -> {
          DatanodeSpace datanode = datanodes.find(sign.datanode());
          if (datanode != null && datanode.keeping().isOf(sign.start())) {
            allocator.haveCutOff(datanode, sign.cutOff());
          }
          return null;
        });
  }

  /**
   * Notes a sign of life, and answers which clients the datanode must cut off.
   *
   * @param caller who asks
   */
  public KeepAlive.Response keepAlive(KeepAlive.Request sign, Caller caller) throws CrailException {
    return locks.ofDatanodes(() -> decide(sign));
  }

  private KeepAlive.Response decide(KeepAlive.Request sign) throws CrailException {
    int id = sign.datanode();
    boolean impaired = sign.impaired();
    DatanodeSpace datanode = datanodes.require(id);
    requireKnown(datanode);
    if (!datanode.keeping().isOf(sign.start())) {
      throw Datanodes.unknown(id);
    }
    long now = clock.nanoTime();
    if (datanode.keeping().coming() == null) {
      datanode.signs().seen(now);
    }
    if (datanode.keeping().coming() == null && reportedOffline.remove(id)) {
      log.info(datanode + " is back");
    }
    if (datanode.signs().impair(impaired)) {
      if (impaired) {
        log.warn(datanode + " has lost a target");
      } else {
        log.info(datanode + " has its targets again");
      }
    }
    CutOffs.Page page = allocator.cutOffs(datanode).page();
    boolean isDraining = datanode.state() == DatanodeSpace.State.DRAINING;
    if (isDraining && datanode.isEmpty() && !datanode.isStopped()) {
      // Remembered a little longer, so that the answer is the same if this one is lost.
      applier.state(datanode, datanode.state(), true, now);
      log.info(datanode + " may end");
    }
    return new KeepAlive.Response(
        datanode.isStopped(),
        isDraining,
        datanode.freeBlocks(),
        datanode.totalBlocks(),
        datanode.signs().answer(sign.heard()),
        page.number(),
        page.clients());
  }

  /** Notes how many bytes clients have moved so far. */
  public void served(KeepAlive.Request sign) throws CrailException {
    datanodes.require(sign.datanode()).signs().served(clock.nanoTime(), sign);
  }

  /** Notes over which connection, and from whom, the last message of a datanode came. */
  public void cameBy(int id, Object connection, Caller caller) {
    DatanodeSpace datanode = datanodes.find(id);
    if (datanode != null) {
      datanode.signs().loggedIn(caller.key());
      datanode.signs().cameBy(connection);
    }
  }

  /** Notes that a connection has ended. Until it is back, its datanode is asked last for space. */
  public void ended(Object connection) {
    for (DatanodeSpace datanode : datanodes.all()) {
      if (datanode.signs().ended(connection) && !datanode.isGone()) {
        log.info(datanode + " has lost its connection");
      }
    }
  }

  /**
   * Gives a datanode no new data from now on. The data of one that is silent are given up if that
   * is asked for: if it comes back, the answer is to end.
   *
   * @param caller who asks
   */
  public RemoveDatanode.Response remove(RemoveDatanode.Request request, Caller caller)
      throws CrailException {
    return locks.ofDatanodes(() -> decide(request));
  }

  private RemoveDatanode.Response decide(RemoveDatanode.Request request) throws CrailException {
    DatanodeSpace datanode = find(each -> each.isAt(request.host(), request.port()));
    if (datanode == null) {
      throw ErrorCode.UNKNOWN_DATANODE.exception(request.host() + ":" + request.port());
    }
    boolean silent = !reports.isOnline(datanode);
    if (silent && !request.givesUp()) {
      throw ErrorCode.UNAVAILABLE.exception(datanode + " is silent");
    }
    if (silent) {
      applier.state(datanode, DatanodeSpace.State.DEAD, true, clock.nanoTime());
      reportedOffline.remove(datanode.id());
      log.warn(datanode + " was removed while it was silent; what it held is lost");
    } else {
      beginDrain(datanode);
    }
    DatanodeSpace.Accounts accounts = datanode.accounts(false);
    return new RemoveDatanode.Response(datanode.id(), silent, accounts.used() + accounts.waiting());
  }

  private void beginDrain(DatanodeSpace datanode) {
    if (datanode.state() == DatanodeSpace.State.ACTIVE) {
      applier.state(datanode, DatanodeSpace.State.DRAINING, datanode.isStopped(), clock.nanoTime());
      log.info(datanode + " is being removed");
    }
  }

  /**
   * Takes a datanode out of use or brings it back, unless it is silent or gone. Says how it stands
   * then.
   *
   * @param caller who asks
   */
  public DrainDatanode.Response drain(DrainDatanode.Request request, Caller caller) {
    UUID uuid = new UUID(request.uuidHigh(), request.uuidLow());
    return locks.ofDatanodes(() -> decide(uuid, request.action()));
  }

  private DrainDatanode.Response decide(UUID uuid, DrainAction action) {
    DatanodeSpace datanode = datanodes.findLasting(uuid);
    if (datanode != null && reports.isOnline(datanode)) {
      long now = clock.nanoTime();
      if (action == DrainAction.BEGIN) {
        beginDrain(datanode);
      } else if (action == DrainAction.CANCEL
          && datanode.state() == DatanodeSpace.State.DRAINING
          // One that was let go may have ended already.
          && (!datanode.isStopped() || datanode.signs().areGood(now, options.presentNanos()))) {
        applier.state(datanode, DatanodeSpace.State.ACTIVE, false, now);
        log.info(datanode + " is in use again");
      }
    }
    return reports.drain(datanode, uuid);
  }

  /** Reports datanodes that have fallen silent, and forgets dead or silent ones without data. */
  public void tick() {
    locks.ofDatanodes(
        () -> {
          lookAtAll(clock.nanoTime());
          return null;
        });
  }

  private void lookAtAll(long now) {
    List<DatanodeSpace> forgotten = new ArrayList<>();
    for (DatanodeSpace datanode : datanodes.all()) {
      boolean online = datanode.isOnline(now, options.offlineNanos());
      if (datanode.state() == DatanodeSpace.State.DEAD) {
        if (datanode.isEmpty()) {
          forgotten.add(datanode);
        }
      } else if (!online && datanode.isStopped()) {
        forgotten.add(datanode);
      } else if (!datanode.isOnline(now, options.forgottenNanos()) && closed(datanode, now)) {
        // It is forgotten, or every restart would leave a dead entry. It may register anew.
        forgotten.add(datanode);
        log.info(datanode + " is forgotten");
      } else if (!online && reportedOffline.add(datanode.id())) {
        log.warn(datanode + " is offline");
      }
      applier.releaseWhatIsSafe(datanode, now);
      reportOverdue(datanode, now);
    }
    if (!forgotten.isEmpty()) {
      applier.forget(forgotten);
      for (DatanodeSpace datanode : forgotten) {
        reportedOffline.remove(datanode.id());
        contested.remove(datanode.id());
      }
    }
  }

  /** Whether nothing but cut-offs is left of a datanode, so that it gets no data any more. */
  private boolean closed(DatanodeSpace datanode, long now) {
    return locks.ofSpace(
        datanode,
        () -> {
          boolean isOver = datanode.holdsOnly(allocator.cutOffs(datanode).bytes());
          if (isOver) {
            applier.close(datanode, now);
          }
          return isOver;
        });
  }

  private void reportOverdue(DatanodeSpace datanode, long now) {
    CutOffs.Overdue overdue = allocator.cutOffs(datanode).overdue(now - options.presentNanos());
    if (overdue != null) {
      log.warn(datanode + " has not cut off client " + overdue.text(now));
    }
  }

  /** Refuses requests of a process whose datanode is dead, unless the answer is that it may end. */
  private static void requireKnown(DatanodeSpace datanode) throws CrailException {
    if (datanode.state() == DatanodeSpace.State.DEAD && !datanode.isStopped()) {
      throw Datanodes.unknown(datanode.id());
    }
  }

  /**
   * The datanode whose place another one takes: at its address, or on its foreign devices.
   *
   * @param kept the other one, if it has come back; then one that was at the address may come back
   *     elsewhere, and keeps its place
   */
  private DatanodeSpace predecessor(RegisterDatanode.Description request, DatanodeSpace kept) {
    return find(
        datanode ->
            (kept == null || !datanode.keeping().keeps())
                && (datanode.isAt(request.host(), request.port())
                    || request.hasDevicesOf(datanode.description())));
  }

  private DatanodeSpace find(Predicate<DatanodeSpace> wanted) {
    for (DatanodeSpace datanode : datanodes.all()) {
      if (datanode.state() != DatanodeSpace.State.DEAD && wanted.test(datanode)) {
        return datanode;
      }
    }
    return null;
  }

  /** Two live datanodes in one place would keep replacing each other and lose all data. */
  private void requireGone(
      DatanodeSpace predecessor, RegisterDatanode.Description request, long now)
      throws CrailException {
    if (predecessor.isStopped() || !predecessor.isOnline(now, options.presentNanos())) {
      return;
    }
    if (contested.add(predecessor.id())) {
      log.warn(predecessor + " is alive, but another process registers in its place");
    }
    throw ErrorCode.ADDRESS_TAKEN.exception(
        request.hasDevicesOf(predecessor.description())
            ? predecessor + " lends the same: " + request.traits().details()
            : request.host() + ":" + request.port() + " is the address of " + predecessor);
  }

  /** Declares the data of a datanode lost. */
  private void bury(DatanodeSpace datanode, String why) {
    applier.state(datanode, DatanodeSpace.State.DEAD, datanode.isStopped(), clock.nanoTime());
    contested.remove(datanode.id());
    reportedOffline.remove(datanode.id());
    log.warn(datanode + " " + why + "; what it held is lost");
  }
}
