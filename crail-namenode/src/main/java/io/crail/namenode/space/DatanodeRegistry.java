/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.memory.HeapBudget;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.DrainDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The datanodes that lend space to this namenode, their regions, and whether they are alive. Tells
 * the {@link Allocator} which datanodes it may use. Thread-safe.
 */
public final class DatanodeRegistry {
  /** The most datanodes at a time. */
  static final int MAX_DATANODES = 1 << 16;

  private static final Logger LOG = LoggerFactory.getLogger(DatanodeRegistry.class);
  // Log lines about datanodes at once, since all datanodes of a cluster start at the same time.
  private static final int LOG_BURST = 64;

  private final NameNodeOptions options;
  private final Clock clock;
  private final HostNames hosts;
  private final Allocator allocator;
  private final HeapBudget budget;
  private final DatanodeReports reports;
  private final RateLimitedLog log;
  private final Map<Integer, DatanodeSpace> byId = new TreeMap<>();
  private final Map<UUID, DatanodeSpace> byUuid = new HashMap<>();
  private final Map<Integer, Boolean> reportedOffline = new HashMap<>();
  // Datanodes whose address another process wants to use.
  private final Set<Integer> contested = new HashSet<>();
  private int nextId;
  private boolean successor;

  public DatanodeRegistry(
      NameNodeOptions options,
      Clock clock,
      RandomGenerator random,
      HostNames hosts,
      Allocator allocator,
      HeapBudget budget) {
    this.budget = budget;
    this.options = options;
    this.clock = clock;
    this.hosts = hosts;
    this.allocator = allocator;
    this.reports = new DatanodeReports(options, clock);
    this.log = new RateLimitedLog(LOG, clock, LOG_BURST);
    // Random, so that an id from before a restart names no datanode rather than a wrong one.
    this.nextId = (random.nextInt() >>> 2) / options.count() * options.count() + options.index();
  }

  /**
   * Whether an earlier start of this namenode had space of its datanodes, so its nodes are gone.
   */
  public synchronized boolean isSuccessor() {
    return successor;
  }

  /** Registers a datanode, or confirms it. */
  public synchronized int register(RegisterDatanode.Request request) throws CrailException {
    if (request.storageClass() < 0 || request.storageClass() >= options.storageClasses()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "storage class " + request.storageClass() + ", there are " + options.storageClasses());
    }
    if (request.port() < 1 || request.port() > 65535) {
      throw ErrorCode.INVALID_ARGUMENT.exception("port " + request.port());
    }
    long now = clock.nanoTime();
    UUID uuid = request.uuid();
    if (request.lentBefore() && !successor) {
      successor = true;
      LOG.warn("datanodes have lent their space to an earlier namenode: its nodes are gone");
    }
    DatanodeSpace known = byUuid.get(uuid);
    if (known != null) {
      if (!known.description().describesAs(request)) {
        throw ErrorCode.INVALID_ARGUMENT.exception(known + " registers with other values");
      }
      known.signs().seen(now);
      return known.id();
    }
    if (byId.size() >= MAX_DATANODES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(MAX_DATANODES + " datanodes");
    }
    // One may have been at the address, and another on the devices.
    for (DatanodeSpace old = predecessor(request); old != null; old = predecessor(request)) {
      requireGone(old, request, now);
      bury(old, "was replaced by another process");
    }
    DatanodeSpace datanode =
        new DatanodeSpace(
            newId(), hosts.add(request.host()), request, options.blockSize(), now, budget);
    if (request.draining()) {
      datanode.drain(now);
    }
    byId.put(datanode.id(), datanode);
    byUuid.put(uuid, datanode);
    allocator.use(byId.values());
    log.info(datanode + (request.draining() ? " registered, and is being removed" : " registered"));
    return datanode.id();
  }

  /** Registers or confirms a region. Returns the number of its blocks. */
  public synchronized long register(RegisterRegion.Request request) throws CrailException {
    DatanodeSpace datanode = require(request.datanode());
    if (Integer.remainderUnsigned(request.index(), options.count()) != options.index()) {
      throw ErrorCode.WRONG_NAMENODE.exception(
          "region " + request.index() + " of datanode " + datanode.id());
    }
    if (datanode.state() == DatanodeSpace.State.DEAD && !datanode.isStopped()) {
      throw unknown(datanode.id());
    }
    Region region = new Region(request.index(), request.length(), request.address(), request.key());
    long now = clock.nanoTime();
    datanode.signs().seen(now);
    if (!datanode.isStopped() && datanode.wasLentElsewhere(region.index(), request.generation())) {
      // The other namenode's clients may have overwritten the data that this namenode knows.
      bury(datanode, "has lent its space to another namenode meanwhile");
      allocator.use(byId.values());
      throw unknown(datanode.id());
    }
    RegionSpace space = datanode.register(region, request.generation());
    if (space != null && request.generation() == 0) {
      datanode.wake(space);
    } else if (space != null) {
      rest(datanode, space);
    }
    return region.length() / options.blockSize();
  }

  /**
   * Holds back a region of which another namenode has given out space. The datanode now refuses
   * requests with an earlier generation. If its tier has no generations, all leases on that space
   * must end first.
   */
  private void rest(DatanodeSpace datanode, RegionSpace region) {
    long leaseNanos = datanode.checksGeneration() ? 0 : options.leaseNanos();
    long restNanos = leaseNanos + datanode.marginNanos(options.freeMarginNanos());
    allocator.rest(datanode, region, restNanos);
    if (datanode.restingBytes() == region.region().length()) {
      LOG.info("{} was in use; its space rests for {} ms", datanode, restNanos / 1_000_000);
    }
  }

  /**
   * Notes that a datanode has cut off clients. Space that waited for this becomes free.
   *
   * @param number number of the list of clients; ignored unless it is the list of the last answer
   */
  public synchronized void haveCutOff(int id, long number) {
    DatanodeSpace datanode = byId.get(id);
    if (datanode != null) {
      allocator.quarantine().areSafe(cutOffs(datanode).done(number));
    }
  }

  /**
   * Notes a sign of life, and answers which clients the datanode must cut off.
   *
   * @param heard the number of the last answer that the datanode has got; 0 for none
   */
  public synchronized KeepAlive.Response keepAlive(int id, boolean impaired, long heard)
      throws CrailException {
    DatanodeSpace datanode = byId.get(id);
    if (datanode == null
        || (datanode.state() == DatanodeSpace.State.DEAD && !datanode.isStopped())) {
      throw unknown(id);
    }
    datanode.signs().seen(clock.nanoTime());
    if (reportedOffline.remove(id) != null) {
      log.info(datanode + " is back");
    }
    if (datanode.signs().impair(impaired)) {
      if (impaired) {
        log.warn(datanode + " has lost a target");
      } else {
        log.info(datanode + " has its targets again");
      }
    }
    CutOffs.Page page = cutOffs(datanode).page();
    boolean drained = datanode.state() == DatanodeSpace.State.DRAINING && datanode.isEmpty();
    if (drained && !datanode.isStopped()) {
      // Remembered a little longer, so that it is told again if this answer gets lost.
      datanode.markStopped();
      log.info(datanode + " may end");
    }
    return new KeepAlive.Response(
        datanode.isStopped(),
        datanode.state() == DatanodeSpace.State.DRAINING,
        datanode.freeBlocks(),
        datanode.totalBlocks(),
        datanode.signs().answer(heard),
        page.number(),
        page.clients());
  }

  /** Notes how many bytes clients have moved so far. */
  public synchronized void served(KeepAlive.Request sign) throws CrailException {
    require(sign.datanode()).signs().served(clock.nanoTime(), sign);
  }

  /** Notes over which connection the last message of a datanode came. */
  public synchronized void cameBy(int id, Object connection) {
    DatanodeSpace datanode = byId.get(id);
    if (datanode != null) {
      datanode.signs().cameBy(connection);
    }
  }

  /** Notes that a connection has ended. Until it is back, its datanode is asked last for space. */
  public synchronized void ended(Object connection) {
    for (DatanodeSpace datanode : byId.values()) {
      if (datanode.signs().ended(connection) && !datanode.isGone()) {
        log.info(datanode + " has lost its connection");
      }
    }
  }

  /**
   * Gives a datanode no new data from now on. Of one that is silent the data are given up if that
   * is asked for: should it come back, it is told to end.
   */
  public synchronized RemoveDatanode.Response remove(RemoveDatanode.Request request)
      throws CrailException {
    DatanodeSpace datanode = find(each -> each.isAt(request.host(), request.port()));
    if (datanode == null) {
      throw ErrorCode.UNKNOWN_DATANODE.exception(request.host() + ":" + request.port());
    }
    boolean silent = !isOnline(datanode);
    if (silent && !request.givesUp()) {
      throw ErrorCode.UNAVAILABLE.exception(datanode + " is silent");
    }
    if (silent) {
      datanode.markStopped();
      die(datanode);
      reportedOffline.remove(datanode.id());
      allocator.use(byId.values());
      log.warn(datanode + " was removed while it was silent; what it held is lost");
    } else if (datanode.state() == DatanodeSpace.State.ACTIVE) {
      beginDrain(datanode);
    }
    DatanodeSpace.Accounts accounts = datanode.accounts(false);
    return new RemoveDatanode.Response(datanode.id(), silent, accounts.used() + accounts.waiting());
  }

  private void beginDrain(DatanodeSpace datanode) {
    if (datanode.drain(clock.nanoTime())) {
      allocator.use(byId.values());
      log.info(datanode + " is being removed");
    }
  }

  /**
   * Takes a datanode out of use or brings it back, unless it is silent or gone. Says how it stands
   * then.
   */
  public synchronized DrainDatanode.Response drain(DrainDatanode.Request request) {
    UUID uuid = new UUID(request.uuidHigh(), request.uuidLow());
    DatanodeSpace datanode = byUuid.get(uuid);
    if (datanode != null && isOnline(datanode)) {
      if (request.action() == DrainAction.BEGIN) {
        beginDrain(datanode);
      } else if (request.action() == DrainAction.CANCEL
          // One that was let go may have ended already.
          && (!datanode.isStopped()
              || datanode.signs().areGood(clock.nanoTime(), options.presentNanos()))
          && datanode.cancelDrain()) {
        allocator.use(byId.values());
        log.info(datanode + " is in use again");
      }
    }
    return reports.drain(byId.values(), datanode, uuid);
  }

  /** Describes a datanode, even one that is gone while nodes have extents on it. */
  public synchronized DescribeDatanode.Response describe(DescribeDatanode.Request request)
      throws CrailException {
    return reports.describe(require(request.datanode()), request.firstRegion());
  }

  /** A page of how the datanodes stand with this namenode: those with ids above {@code after}. */
  public synchronized ReportDatanodes.Response report(int after) {
    return reports.page(byId.values(), after);
  }

  /** The ids of registered datanodes that are above {@code after}, ascending. */
  public synchronized List<Integer> list(int after, int most) {
    return byId.values().stream()
        .filter(datanode -> datanode.id() > after && !datanode.isGone())
        .limit(most)
        .map(DatanodeSpace::id)
        .toList();
  }

  /** The registered datanodes, ascending by id. */
  public synchronized List<DatanodeSpace> datanodes() {
    return byId.values().stream().filter(datanode -> !datanode.isGone()).toList();
  }

  /** True when a datanode has sent a sign of life recently. */
  public boolean isOnline(DatanodeSpace datanode) {
    return datanode.isOnline(clock.nanoTime(), options.offlineNanos());
  }

  /** The number of datanodes by their state; those that are gone, while nodes have bytes there. */
  public synchronized Map<DatanodeState, Integer> states() {
    return reports.states(byId.values());
  }

  /** The accounts of each class that has datanodes, ascending. */
  public synchronized List<ClassUsage> usage() {
    return reports.usage(byId.values());
  }

  /** Reports datanodes that have fallen silent, and forgets dead or silent ones without data. */
  public synchronized void tick() {
    long now = clock.nanoTime();
    List<DatanodeSpace> forgotten = new ArrayList<>();
    for (DatanodeSpace datanode : byId.values()) {
      boolean online = datanode.isOnline(now, options.offlineNanos());
      if (datanode.state() == DatanodeSpace.State.DEAD) {
        if (datanode.isEmpty()) {
          forgotten.add(datanode);
        }
      } else if (!online && datanode.isStopped()) {
        forgotten.add(datanode);
      } else if (!datanode.isOnline(now, options.forgottenNanos())
          && datanode.dieIfEmpty(cutOffs(datanode).bytes())) {
        // It is forgotten, or every restart would leave a dead entry. It may register anew.
        allocator.quarantine().areSafe(cutOffs(datanode).die());
        forgotten.add(datanode);
        log.info(datanode + " is forgotten");
      } else if (!online && reportedOffline.put(datanode.id(), true) == null) {
        log.warn(datanode + " is offline");
      }
      reportOverdue(datanode, now);
    }
    if (!forgotten.isEmpty()) {
      forget(forgotten);
    }
  }

  private void reportOverdue(DatanodeSpace datanode, long now) {
    CutOffs.Overdue overdue = cutOffs(datanode).overdue(now - options.presentNanos());
    if (overdue != null) {
      log.warn(datanode + " has not cut off client " + overdue.text(now));
    }
  }

  private void forget(List<DatanodeSpace> forgotten) {
    for (DatanodeSpace datanode : forgotten) {
      byId.remove(datanode.id());
      byUuid.remove(datanode.description().uuid(), datanode);
      reportedOffline.remove(datanode.id());
      contested.remove(datanode.id());
      datanode.heap().forget();
      allocator.quarantine().forget(datanode);
    }
    allocator.use(byId.values());
  }

  /**
   * Counts all space again and compares it with the accounts; for tests, while nothing changes.
   *
   * @param used bytes that belong to nodes, by datanode
   * @param moves what rests after moves
   * @param audit knows the extents of nodes
   */
  public synchronized void verify(
      Map<DatanodeSpace, Long> used, RestingMoves moves, SpaceAudit audit) {
    allocator.quarantine().audit(audit);
    moves.audit(audit);
    for (DatanodeSpace datanode : byId.values()) {
      datanode.verify(allocator.quarantine().lentOf(datanode), audit);
      DatanodeSpace.Accounts accounts = datanode.accounts(isOnline(datanode));
      long expectedUsed = used.getOrDefault(datanode, 0L);
      long expectedWaiting =
          allocator.quarantine().bytesOf(datanode)
              + moves.bytesOf(datanode)
              + datanode.restingBytes();
      if (accounts.used() != expectedUsed
          || accounts.waiting() != expectedWaiting
          || accounts.free() + accounts.used() + accounts.waiting() != accounts.capacity()) {
        throw new AssertionError(
            datanode
                + ": nodes have "
                + expectedUsed
                + " bytes, "
                + expectedWaiting
                + " wait, but "
                + accounts);
      }
    }
    for (DatanodeSpace datanode : used.keySet()) {
      if (byId.get(datanode.id()) != datanode) {
        throw new AssertionError(datanode + " is forgotten but has extents");
      }
    }
  }

  /** Bytes of heap of datanodes, and of extents that belong to no node; for tests. */
  public synchronized long footprint(RestingMoves moves) {
    return reports.footprint(byId.values(), allocator.quarantine(), moves.extents());
  }

  private CutOffs cutOffs(DatanodeSpace datanode) {
    return allocator.quarantine().cutOffs(datanode);
  }

  private static CrailException unknown(int id) {
    return ErrorCode.UNKNOWN_DATANODE.exception("datanode " + id);
  }

  private DatanodeSpace require(int id) throws CrailException {
    DatanodeSpace datanode = byId.get(id);
    if (datanode == null) {
      throw unknown(id);
    }
    return datanode;
  }

  /** The datanode whose place a new one takes: at its address, or on its foreign devices. */
  private DatanodeSpace predecessor(RegisterDatanode.Request request) {
    return find(
        datanode ->
            datanode.isAt(request.host(), request.port())
                || request.hasDevicesOf(datanode.description()));
  }

  private DatanodeSpace find(Predicate<DatanodeSpace> wanted) {
    for (DatanodeSpace datanode : byId.values()) {
      if (datanode.state() != DatanodeSpace.State.DEAD && wanted.test(datanode)) {
        return datanode;
      }
    }
    return null;
  }

  /** Two live datanodes in one place would replace each other for ever and lose all data. */
  private void requireGone(DatanodeSpace predecessor, RegisterDatanode.Request request, long now)
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

  /** Declares a datanode's data lost. It need not cut off clients any more. */
  private void die(DatanodeSpace datanode) {
    datanode.die();
    allocator.quarantine().areSafe(cutOffs(datanode).die());
  }

  private void bury(DatanodeSpace datanode, String why) {
    die(datanode);
    contested.remove(datanode.id());
    byUuid.remove(datanode.description().uuid(), datanode);
    reportedOffline.remove(datanode.id());
    log.warn(datanode + " " + why + "; what it held is lost");
  }

  private int newId() {
    do {
      nextId += options.count();
      if (nextId < 0) {
        nextId = options.index();
      }
    } while (byId.containsKey(nextId));
    return nextId;
  }
}
