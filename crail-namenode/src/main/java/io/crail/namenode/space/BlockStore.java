/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.BlockSelection;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.ClientLeases;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.KeepAlive;
import io.crail.protocol.cluster.RegisterDatanode;
import io.crail.protocol.cluster.RegisterRegion;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.Region;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All space that datanodes lend to this namenode, by storage class. Gives extents to nodes and
 * takes them back; what somebody may still access rests first: an extent in the {@link Quarantine},
 * a whole region when another namenode, or the one before a restart, may have given space of it.
 * Thread-safe: allocating takes one datanode's monitor at a time, registering the store's.
 */
public final class BlockStore {
  /** The most datanodes at a time. */
  static final int MAX_DATANODES = 1 << 16;

  private static final Logger LOG = LoggerFactory.getLogger(BlockStore.class);
  // Lines about datanodes at once: a cluster that starts has them all at the same time.
  private static final int LOG_BURST = 64;
  private static final int RECLAIM_BATCH = 4096;
  // Regions of an answer, so that it stays within a frame with the longest strings.
  private static final int MAX_REGIONS_LENGTH = 60_000;

  /** The datanodes of a class that may get data, in the order of their registration. */
  private record Members(DatanodeSpace[] datanodes) implements BlockSelection.Candidates {
    @Override
    public int count() {
      return datanodes.length;
    }

    @Override
    public long freeBytes(int index) {
      return datanodes[index].freeBytes();
    }
  }

  /**
   * What space is for.
   *
   * @param storageClass the node's class, asked first
   * @param strict whether no other class may be asked
   * @param host the host to prefer within a class, or {@link HostNames#ANY}
   * @param client who writes; datanodes that it could not reach are asked last. Null for nobody
   * @param except a datanode that is not asked; null for none
   * @param lastResort whether those that could not be reached are asked at all
   */
  public record Purpose(
      int storageClass,
      boolean strict,
      int host,
      ClientLeases<?> client,
      DatanodeSpace except,
      boolean lastResort) {
    /** For a writer, of any datanode. */
    public Purpose(int storageClass, boolean strict, int host, ClientLeases<?> client) {
      this(storageClass, strict, host, client, null, true);
    }

    /** The same, but not of this datanode. */
    public Purpose except(DatanodeSpace datanode, boolean asLastResort) {
      return new Purpose(storageClass, strict, host, client, datanode, asLastResort);
    }
  }

  /** A region of which no space is given out yet. */
  private record Resting(RegionSpace region, long readyNanos) {}

  private final NameNodeOptions options;
  private final Clock clock;
  private final HostNames hosts;
  private final RateLimitedLog datanodeLog;
  private final Quarantine quarantine = new Quarantine();
  private final int[][] classOrders;
  private final BlockSelection[] selections;
  // Regions that rest, by the time of their end.
  private final PriorityQueue<Resting> resting =
      new PriorityQueue<>((a, b) -> Long.signum(a.readyNanos - b.readyNanos));
  private final Map<Integer, DatanodeSpace> byId = new TreeMap<>();
  private final Map<UUID, DatanodeSpace> byUuid = new HashMap<>();
  private final Map<Integer, Boolean> reportedOffline = new HashMap<>();
  // Datanodes whose address another process wants.
  private final Set<Integer> contested = new HashSet<>();
  private volatile Members[] classes;
  private int nextId;

  public BlockStore(NameNodeOptions options, Clock clock, RandomGenerator random, HostNames hosts) {
    this.options = options;
    this.clock = clock;
    this.datanodeLog = new RateLimitedLog(LOG, clock, LOG_BURST);
    this.hosts = hosts;
    this.classOrders = new int[options.storageClasses()][];
    this.selections = new BlockSelection[options.storageClasses()];
    this.classes = new Members[options.storageClasses()];
    for (int i = 0; i < classOrders.length; i++) {
      classOrders[i] = options.classOrder(i);
      selections[i] = options.blockSelection().create(new Random(random.nextLong()));
      classes[i] = new Members(new DatanodeSpace[0]);
    }
    // Anywhere, so that an id from before a restart names nobody rather than somebody else.
    this.nextId = (random.nextInt() >>> 2) / options.count() * options.count() + options.index();
  }

  /** The largest extent. */
  public int blockSize() {
    return options.blockSize();
  }

  /**
   * Takes an extent for a node. Whom a client could not reach is asked when no other datanode has
   * any space, of no class.
   *
   * @param fileOffset the extent's position in the node
   * @param length bytes, a power of two up to the block size; where no class has such an extent, a
   *     smaller one is given
   * @return null when nothing at all is free
   */
  public Allocation allocate(Purpose purpose, long fileOffset, int length) {
    long now = clock.nanoTime();
    DatanodeSpace.Place place = take(purpose, length, true, now);
    if (place == null && purpose.lastResort) {
      place = take(purpose, length, false, now);
    }
    return place == null
        ? null
        : new Allocation(
            place.region(), place.regionOffset(), fileOffset, place.generation(), place.length());
  }

  private DatanodeSpace.Place take(Purpose purpose, int length, boolean careful, long now) {
    int[] order = classOrders[purpose.storageClass];
    int tried = purpose.strict ? 1 : order.length;
    for (int i = 0; i < tried; i++) {
      Members members = classes[order[i]];
      if (members.datanodes.length == 0) {
        continue;
      }
      int first = selections[order[i]].first(members);
      DatanodeSpace.Place place = take(purpose, members, first, length, false, careful, now);
      if (place == null) {
        place = take(purpose, members, first, length, true, careful, now);
      }
      if (place != null) {
        return place;
      }
    }
    return null;
  }

  private DatanodeSpace.Place take(
      Purpose purpose,
      Members members,
      int first,
      int length,
      boolean orLess,
      boolean careful,
      long now) {
    DatanodeSpace.Place place = null;
    if (purpose.host != HostNames.ANY) {
      place = take(purpose, members, first, true, length, orLess, careful, now);
    }
    return place != null
        ? place
        : take(purpose, members, first, false, length, orLess, careful, now);
  }

  private DatanodeSpace.Place take(
      Purpose purpose,
      Members members,
      int first,
      boolean onHost,
      int length,
      boolean orLess,
      boolean careful,
      long now) {
    DatanodeSpace[] datanodes = members.datanodes;
    for (int i = 0; i < datanodes.length; i++) {
      DatanodeSpace datanode = datanodes[(first + i) % datanodes.length];
      if ((!onHost || datanode.host() == purpose.host)
          && datanode != purpose.except
          && datanode.isOnline(now, options.offlineNanos())
          && !(careful && isOutOfReach(datanode, purpose.client, now))) {
        DatanodeSpace.Place place = datanode.take(length, orLess);
        if (place != null) {
          return place;
        }
      }
    }
    return null;
  }

  /** True when a client could not reach it lately: this one, or any since it was heard of. */
  private static boolean isOutOfReach(DatanodeSpace datanode, ClientLeases<?> client, long now) {
    return datanode.isSuspected() || (client != null && client.avoids(datanode.id(), now));
  }

  /**
   * Takes note that a client could not reach a datanode. Others are asked before it: for that
   * client as long as a datanode may be silent, for everybody until it is heard of again. So who
   * lies, or is cut off, takes it from nobody else for longer than a sign of life takes.
   */
  public void outOfReach(DatanodeSpace datanode, ClientLeases<?> client) {
    long now = clock.nanoTime();
    client.avoid(datanode.id(), now, now + options.offlineNanos());
    if (datanode.suspect()) {
      datanodeLog.info(datanode + " could not be reached by a client");
    }
  }

  /**
   * Takes back an extent of a node.
   *
   * @param leaseEndNanos when that lease ends or ended; ignored without one
   * @param writer the holder of that lease; null without one
   * @param maySay whether it can still say that no write is on its way
   */
  public void release(
      Allocation extent, long leaseEndNanos, Quarantine.Writer writer, boolean maySay) {
    boolean leased = writer != null;
    DatanodeSpace datanode = extent.region().datanode();
    boolean lost = datanode.state() == DatanodeSpace.State.DEAD;
    if (lost || (datanode.checksGeneration() && !leased && !extent.isSealed())) {
      datanode.give(extent);
      return;
    }
    long now = clock.nanoTime();
    // Nobody remembers when the lease ended that a sealed extent was written under, but it has.
    long ready = datanode.checksGeneration() ? now : now + options.leaseNanos();
    // Where readers may hold a location, or somebody wrote before the seal, it knows too little.
    boolean endsEarly = datanode.checksGeneration() && !extent.isSealed();
    if (leased && leaseEndNanos - ready > 0) {
      ready = leaseEndNanos;
    }
    datanode.await(extent);
    boolean heard = endsEarly || !datanode.checksGeneration();
    quarantine.add(
        extent, ready + options.freeMarginNanos(), heard ? writer : null, maySay, endsEarly);
  }

  /**
   * Notes that the writer of an extent that goes on being a node's has lost its lease without a
   * word: where its datanode can cut it off, it is.
   */
  public void cutOff(Allocation extent, long client) {
    DatanodeSpace datanode = extent.region().datanode();
    if (datanode.cutsOff()) {
      datanode.cutOffs().order(client, clock.nanoTime());
    }
  }

  /**
   * Takes back an extent of which no reader was ever told, and to which no write is on its way: on
   * every tier the next one may have it at once.
   */
  public void giveBack(Allocation extent) {
    extent.region().datanode().give(extent);
  }

  /**
   * Takes an extent for a node that is still to come, of the node's class and on its host, where
   * there is plenty. It rests, so it is free again after the end of a lease if no node takes it,
   * and its writer is known not to write there.
   *
   * @param client who is to write; null when it is not known
   * @param length bytes, a power of two up to the block size
   * @return null when none is as long, little is free, or much is lent already
   */
  public Allocation grant(Quarantine.Grant grant, ClientLeases<?> client, int length) {
    long now = clock.nanoTime();
    Members members = classes[grant.storageClass()];
    DatanodeSpace[] datanodes = members.datanodes;
    boolean some = false;
    for (int i = 0; i < datanodes.length && !some; i++) {
      some = isFor(datanodes[i], grant, client, now) && datanodes[i].mayLend(length);
    }
    // A refusal takes no turn from those who need space.
    int first = some ? selections[grant.storageClass()].first(members) : 0;
    for (int i = 0; i < datanodes.length && some; i++) {
      DatanodeSpace datanode = datanodes[(first + i) % datanodes.length];
      DatanodeSpace.Place place =
          isFor(datanode, grant, client, now) ? datanode.takeToLend(length) : null;
      if (place != null) {
        Allocation extent =
            new Allocation(
                place.region(), place.regionOffset(), 0, place.generation(), place.length());
        long endNanos = now + options.leaseNanos();
        quarantine.add(extent, endNanos + options.freeMarginNanos(), grant, true, true);
        return extent;
      }
    }
    return null;
  }

  private boolean isFor(
      DatanodeSpace datanode, Quarantine.Grant grant, ClientLeases<?> client, long now) {
    return (grant.host() == HostNames.ANY || grant.host() == datanode.host())
        && datanode.isOnline(now, options.offlineNanos())
        && !isOutOfReach(datanode, client, now);
  }

  /** Takes back an extent of {@link #takeGranted} that no node has: it rests as long as ever. */
  public void releaseGranted(Allocation extent, Quarantine.Writer writer) {
    release(extent, clock.nanoTime() + options.leaseNanos(), writer, false);
  }

  /**
   * Gives an extent to the node that it was taken for ahead.
   *
   * @param purpose that of the node's space
   * @param bytes how many were written to it, or are on their way
   * @return null when it is not there any more, or was taken for something else
   */
  public Allocation takeGranted(long grant, long token, Purpose purpose, long bytes) {
    Allocation extent =
        quarantine.take(grant, token, purpose, bytes, clock.nanoTime(), options.offlineNanos());
    if (extent != null) {
      extent.region().datanode().useLent(extent);
    }
    return extent;
  }

  /** Takes note that the writer of a node that is gone has no write under way, nor begins one. */
  public void letGo(long node, long token) {
    quarantine.letGo(node, token);
  }

  /** Writers of nodes that are gone who can let something go; for tests. */
  public int awaitedWriters() {
    return quarantine.writers();
  }

  /** Gives extents and regions back that have waited long enough; how many. */
  public int reclaim() {
    long now = clock.nanoTime();
    return wake(now) + quarantine.reclaim(now, RECLAIM_BATCH);
  }

  private int wake(long nowNanos) {
    int count = 0;
    synchronized (resting) {
      while (!resting.isEmpty() && nowNanos - resting.peek().readyNanos >= 0) {
        RegionSpace region = resting.remove().region;
        region.datanode().wake(region);
        count++;
      }
    }
    return count;
  }

  /**
   * Says what space comes by itself to a node that finds none; may be empty.
   *
   * @param storageClass the node's class
   * @param strict whether it takes no other
   */
  public String prospect(int storageClass, boolean strict) {
    long bytes = 0;
    long last = clock.nanoTime();
    long now = last;
    synchronized (resting) {
      for (Resting each : resting) {
        if (mayHave(storageClass, strict, each.region.datanode())) {
          bytes += each.region.region().length();
          last = each.readyNanos - last > 0 ? each.readyNanos : last;
        }
      }
    }
    return bytes == 0
        ? ""
        : "; "
            + bytes
            + " bytes that were in use before this namenode got them come within "
            + (last - now) / 1_000_000
            + " ms";
  }

  private boolean mayHave(int storageClass, boolean strict, DatanodeSpace datanode) {
    int present = datanode.storageClass();
    return datanode.state() == DatanodeSpace.State.ACTIVE
        && (present == storageClass
            || (!strict
                && Arrays.stream(classOrders[storageClass]).anyMatch(other -> other == present)));
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
    UUID uuid = new UUID(request.uuidHigh(), request.uuidLow());
    DatanodeSpace known = byUuid.get(uuid);
    if (known != null) {
      if (!known.description().equals(request)) {
        throw ErrorCode.INVALID_ARGUMENT.exception(known + " registers with other values");
      }
      known.seen(now);
      return known.id();
    }
    if (byId.size() >= MAX_DATANODES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(MAX_DATANODES + " datanodes");
    }
    DatanodeSpace predecessor = find(request.host(), request.port());
    if (predecessor != null) {
      requireGone(predecessor, request, now);
      bury(predecessor, "was replaced by another process");
    }
    DatanodeSpace datanode =
        new DatanodeSpace(newId(), hosts.add(request.host()), request, options.blockSize(), now);
    byId.put(datanode.id(), datanode);
    byUuid.put(uuid, datanode);
    rebuild();
    datanodeLog.info(datanode + " registered");
    return datanode.id();
  }

  /** Takes a region into account, or confirms it; the number of its blocks. */
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
    datanode.seen(now);
    if (!datanode.isStopped() && datanode.wasLentElsewhere(region.index(), request.generation())) {
      // Whoever had it meanwhile has written over what this namenode knows to be there.
      bury(datanode, "has lent its space to another namenode meanwhile");
      rebuild();
      throw unknown(datanode.id());
    }
    RegionSpace space = datanode.register(region, request.generation());
    if (space != null && request.generation() == 0) {
      datanode.wake(space);
    } else if (space != null) {
      rest(space, now);
    }
    return region.length() / options.blockSize();
  }

  /**
   * Keeps back a region of which somebody else has given space. From now on the datanode refuses
   * what begins in the name of an earlier generation; where it cannot, all leases on such space
   * have to end first.
   */
  private void rest(RegionSpace region, long nowNanos) {
    DatanodeSpace datanode = region.datanode();
    long leaseNanos = datanode.checksGeneration() ? 0 : options.leaseNanos();
    long restNanos = leaseNanos + options.freeMarginNanos();
    synchronized (resting) {
      resting.add(new Resting(region, nowNanos + restNanos));
    }
    if (datanode.restingBytes() == region.region().length()) {
      LOG.info("{} was in use; its space rests for {} ms", datanode, restNanos / 1_000_000);
    }
  }

  /**
   * Notes that a datanode has cut off clients: what waited for that can be given away.
   *
   * @param number which list of them; any other one than that of its last answer means nothing
   */
  public synchronized void haveCutOff(int id, long number) {
    DatanodeSpace datanode = byId.get(id);
    if (datanode != null) {
      quarantine.areSafe(datanode.cutOffs().done(number));
    }
  }

  /** Notes a sign of life, and answers whom the datanode is to cut off. */
  public synchronized KeepAlive.Response keepAlive(int id) throws CrailException {
    DatanodeSpace datanode = byId.get(id);
    if (datanode == null
        || (datanode.state() == DatanodeSpace.State.DEAD && !datanode.isStopped())) {
      throw unknown(id);
    }
    datanode.seen(clock.nanoTime());
    if (reportedOffline.remove(id) != null) {
      datanodeLog.info(datanode + " is back");
    }
    CutOffs.Page page = datanode.cutOffs().page();
    boolean drained = datanode.state() == DatanodeSpace.State.DRAINING && datanode.isEmpty();
    if (drained && !datanode.isStopped()) {
      // Known a little longer, so that it is told again should this answer get lost.
      datanode.markStopped();
      datanodeLog.info(datanode + " may end");
    }
    return new KeepAlive.Response(
        datanode.isStopped(),
        datanode.freeBlocks(),
        datanode.totalBlocks(),
        page.number(),
        page.clients());
  }

  /** Gives a datanode no new data from now on. */
  public synchronized RemoveDatanode.Response remove(RemoveDatanode.Request request)
      throws CrailException {
    DatanodeSpace datanode = find(request.host(), request.port());
    if (datanode == null) {
      throw ErrorCode.UNKNOWN_DATANODE.exception(request.host() + ":" + request.port());
    }
    if (datanode.state() == DatanodeSpace.State.ACTIVE) {
      datanode.drain();
      rebuild();
      datanodeLog.info(datanode + " is being removed");
    }
    DatanodeSpace.Accounts accounts = datanode.accounts(false);
    return new RemoveDatanode.Response(datanode.id(), accounts.used() + accounts.waiting());
  }

  /** Describes a datanode, also one that is gone while nodes have extents on it. */
  public synchronized DescribeDatanode.Response describe(DescribeDatanode.Request request)
      throws CrailException {
    DatanodeSpace datanode = require(request.datanode());
    RegisterDatanode.Request description = datanode.description();
    List<Region> regions = datanode.regions();
    int most =
        Math.min(DescribeDatanode.MAX_REGIONS, MAX_REGIONS_LENGTH / Region.LAYOUT.fixedLength());
    int from = Math.min(Math.max(request.firstRegion(), 0), regions.size());
    int to = Math.min(regions.size(), from + most);
    return new DescribeDatanode.Response(
        description.uuidHigh(),
        description.uuidLow(),
        description.port(),
        description.storageClass(),
        datanode.isOnline(clock.nanoTime(), options.offlineNanos()),
        regions.size(),
        description.tier(),
        description.host(),
        description.traits(),
        regions.subList(from, to));
  }

  /** The ids above {@code after} of datanodes that are registered, ascending. */
  public synchronized List<Integer> list(int after, int most) {
    return byId.values().stream()
        .filter(datanode -> datanode.id() > after && isMember(datanode))
        .limit(most)
        .map(DatanodeSpace::id)
        .toList();
  }

  /** The datanodes that are registered, ascending by id. */
  public synchronized List<DatanodeSpace> datanodes() {
    return byId.values().stream().filter(BlockStore::isMember).toList();
  }

  /** True when a datanode was heard of lately. */
  public boolean isOnline(DatanodeSpace datanode) {
    return datanode.isOnline(clock.nanoTime(), options.offlineNanos());
  }

  /**
   * The accounts of each class that has datanodes, ascending. What is free at a datanode that is
   * offline or being removed is left out of free and capacity, for nobody can have it.
   */
  public synchronized List<ClassUsage> usage() {
    long[][] sums = new long[options.storageClasses()][];
    for (DatanodeSpace datanode : byId.values()) {
      boolean online = isOnline(datanode);
      DatanodeSpace.Accounts accounts = datanode.accounts(online);
      if (datanode.isStopped() || (!isMember(datanode) && accounts.capacity() == 0)) {
        continue;
      }
      long[] sum = sums[datanode.storageClass()];
      if (sum == null) {
        sum = new long[5];
        sums[datanode.storageClass()] = sum;
      }
      sum[0] += accounts.capacity();
      sum[1] += accounts.free();
      sum[2] += accounts.used();
      sum[3] += accounts.waiting();
      if (datanode.state() == DatanodeSpace.State.ACTIVE && online) {
        sum[4] = Math.max(sum[4], accounts.largest());
      }
    }
    List<ClassUsage> usage = new ArrayList<>();
    for (int i = 0; i < sums.length; i++) {
      long[] sum = sums[i];
      if (sum != null) {
        usage.add(new ClassUsage(i, sum[0], sum[1], sum[2], sum[3], sum[4]));
      }
    }
    return usage;
  }

  /** Reports datanodes that have fallen silent, and forgets those that nothing speaks of. */
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
      } else if (!online && datanode.state() == DatanodeSpace.State.DRAINING) {
        // It is told to end, should it come back, for nobody waits for its data any more.
        datanode.markStopped();
        die(datanode);
        datanodeLog.warn(
            datanode + " fell silent while it was being removed; what it held is lost");
      } else if (!datanode.isOnline(now, options.forgottenNanos()) && datanode.dieIfEmpty()) {
        // Another one registered, if it comes back; else every restart would leave a ghost.
        quarantine.areSafe(datanode.cutOffs().die());
        forgotten.add(datanode);
        datanodeLog.info(datanode + " is forgotten");
      } else if (!online && reportedOffline.put(datanode.id(), true) == null) {
        datanodeLog.warn(datanode + " is offline");
      }
      reportOverdue(datanode, now);
    }
    if (!forgotten.isEmpty()) {
      forget(forgotten);
    }
  }

  private void reportOverdue(DatanodeSpace datanode, long now) {
    CutOffs.Overdue overdue = datanode.cutOffs().overdue(now - options.presentNanos());
    if (overdue != null) {
      datanodeLog.warn(
          datanode
              + " has not cut off client "
              + Long.toHexString(overdue.client())
              + " for "
              + (now - overdue.sinceNanos()) / 1_000_000
              + " ms; "
              + overdue.bytes()
              + " bytes wait for that of "
              + overdue.clients()
              + " clients");
    }
  }

  private void forget(List<DatanodeSpace> forgotten) {
    for (DatanodeSpace datanode : forgotten) {
      byId.remove(datanode.id());
      byUuid.remove(uuid(datanode), datanode);
      reportedOffline.remove(datanode.id());
      contested.remove(datanode.id());
    }
    rebuild();
  }

  /**
   * Counts all space again and compares it with the accounts; for tests, while nothing changes.
   *
   * @param used bytes that nodes have, by datanode
   * @param audit knows the extents of nodes
   */
  public synchronized void verify(Map<DatanodeSpace, Long> used, SpaceAudit audit) {
    quarantine.audit(audit);
    for (DatanodeSpace datanode : byId.values()) {
      datanode.verify(quarantine.lentOf(datanode), audit);
      DatanodeSpace.Accounts accounts = datanode.accounts(isOnline(datanode));
      long expectedUsed = used.getOrDefault(datanode, 0L);
      long expectedWaiting = quarantine.bytesOf(datanode) + datanode.restingBytes();
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
    used.keySet()
        .forEach(
            datanode -> {
              if (byId.get(datanode.id()) != datanode) {
                throw new AssertionError(datanode + " is forgotten but has extents");
              }
            });
  }

  private static boolean isMember(DatanodeSpace datanode) {
    return datanode.state() != DatanodeSpace.State.DEAD && !datanode.isStopped();
  }

  private static UUID uuid(DatanodeSpace datanode) {
    return new UUID(datanode.description().uuidHigh(), datanode.description().uuidLow());
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

  private DatanodeSpace find(Utf8 host, int port) {
    for (DatanodeSpace datanode : byId.values()) {
      RegisterDatanode.Request description = datanode.description();
      if (datanode.state() != DatanodeSpace.State.DEAD
          && description.port() == port
          && description.host().equals(host)) {
        return datanode;
      }
    }
    return null;
  }

  /** Two that live behind one address would bury each other for ever, with all that they hold. */
  private void requireGone(DatanodeSpace predecessor, RegisterDatanode.Request request, long now)
      throws CrailException {
    if (predecessor.isStopped() || !predecessor.isOnline(now, options.presentNanos())) {
      return;
    }
    if (contested.add(predecessor.id())) {
      datanodeLog.warn(predecessor + " is alive, but another process registers with its address");
    }
    throw ErrorCode.ADDRESS_TAKEN.exception(
        request.host() + ":" + request.port() + " is the address of " + predecessor);
  }

  /** Declares what it holds lost; nobody has to be cut off from that. */
  private void die(DatanodeSpace datanode) {
    datanode.die();
    quarantine.areSafe(datanode.cutOffs().die());
  }

  private void bury(DatanodeSpace datanode, String why) {
    die(datanode);
    contested.remove(datanode.id());
    byUuid.remove(uuid(datanode), datanode);
    reportedOffline.remove(datanode.id());
    datanodeLog.warn(datanode + " " + why + "; what it held is lost");
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

  /** Makes the lists that allocation walks. */
  private void rebuild() {
    Members[] fresh = new Members[options.storageClasses()];
    List<List<DatanodeSpace>> lists = new ArrayList<>();
    for (int i = 0; i < fresh.length; i++) {
      lists.add(new ArrayList<>());
    }
    for (DatanodeSpace datanode : byId.values()) {
      if (datanode.state() == DatanodeSpace.State.ACTIVE) {
        lists.get(datanode.storageClass()).add(datanode);
      }
    }
    for (int i = 0; i < fresh.length; i++) {
      fresh[i] = new Members(lists.get(i).toArray(new DatanodeSpace[0]));
    }
    classes = fresh;
  }
}
