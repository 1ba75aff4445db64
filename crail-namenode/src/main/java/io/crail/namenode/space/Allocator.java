/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.conf.BlockSelection;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.lease.ClientLeases;
import io.crail.namenode.space.NodeSpace.Allocation;
import io.crail.protocol.node.BeginMove;
import io.crail.protocol.part.Extent;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.slf4j.LoggerFactory;

/**
 * Gives space of the datanodes to nodes, by storage class, and takes it back. Space that a client
 * may still access rests before it is given out again: an extent in the {@link Quarantine}, a whole
 * region in {@link RestingRegions}. Thread-safe. It takes one datanode's monitor at a time.
 */
public final class Allocator {
  private static final int LOG_BURST = 64;
  private static final int RECLAIM_BATCH = 4096;

  /** A start sends fewer lists of clients to cut off than this many bits count, a millisecond. */
  private static final int CUT_OFF_SHIFT = 20;

  private final NameNodeOptions options;
  private final Clock clock;
  private final RateLimitedLog log;
  private final Quarantine quarantine;
  private final RestingRegions resting;
  private final SpaceProspects prospects;
  private final int[][] classOrders;
  private final BlockSelection[] selections;
  private volatile ClassMembers[] classes;
  // While records are replayed; null before and afterwards.
  private volatile FreedByRecords freed;

  public Allocator(
      NameNodeOptions options, Clock clock, RandomGenerator random, Quarantine quarantine) {
    this.options = options;
    this.quarantine = quarantine;
    this.clock = clock;
    this.log = new RateLimitedLog(LoggerFactory.getLogger(Allocator.class), clock, LOG_BURST);
    this.resting = new RestingRegions(clock);
    this.prospects = new SpaceProspects(options, clock, resting);
    this.classOrders = new int[options.storageClasses()][];
    this.selections = new BlockSelection[options.storageClasses()];
    this.classes = new ClassMembers[options.storageClasses()];
    for (int i = 0; i < classOrders.length; i++) {
      classOrders[i] = options.classOrder(i);
      selections[i] = options.blockSelection().create(new Random(random.nextLong()));
      classes[i] = new ClassMembers(new DatanodeSpace[0]);
    }
  }

  Quarantine quarantine() {
    return quarantine;
  }

  RestingRegions resting() {
    return resting;
  }

  /** The clients that a datanode must cut off before their space is given to others. */
  public CutOffs cutOffs(DatanodeSpace datanode) {
    return quarantine.cutOffs(datanode);
  }

  /**
   * Notes that a datanode has cut off clients. Space that waited for this becomes free.
   *
   * @param number number of the list of clients; ignored unless it is the list of the last answer
   */
  public void haveCutOff(DatanodeSpace datanode, long number) {
    quarantine.areSafe(cutOffs(datanode).done(number));
  }

  /** Lets nothing wait any more for cut-offs of a datanode that is gone. */
  void letGo(DatanodeSpace datanode) {
    quarantine.areSafe(cutOffs(datanode).die());
    resting.release(datanode);
  }

  /**
   * How long a region rests of which another namenode has given out space. The datanode now refuses
   * requests with an earlier generation. If its tier has no generations, all leases on that space
   * must end first.
   */
  public long restNanos(DatanodeSpace datanode) {
    long leaseNanos = datanode.checksGeneration() ? 0 : options.leaseNanos();
    return leaseNanos + datanode.marginNanos(options.freeMarginNanos());
  }

  /** Holds back a region for this time, since another namenode has given out space of it. */
  void rest(DatanodeSpace datanode, RegionSpace region, long restNanos) {
    FreedByRecords replayed = freed;
    if (replayed != null) {
      replayed.rest(datanode, region, restNanos);
      return;
    }
    prospects.takeOver();
    resting.add(datanode, region, restNanos);
  }

  /** Gives out space of the active ones of these datanodes from now on. */
  void use(Collection<DatanodeSpace> datanodes) {
    ClassMembers[] fresh = new ClassMembers[classes.length];
    for (int i = 0; i < fresh.length; i++) {
      int storageClass = i;
      fresh[i] =
          new ClassMembers(
              datanodes.stream()
                  .filter(datanode -> datanode.state() == DatanodeSpace.State.ACTIVE)
                  .filter(datanode -> datanode.storageClass() == storageClass)
                  .toArray(DatanodeSpace[]::new));
    }
    classes = fresh;
  }

  /** The largest extent. */
  public int blockSize() {
    return options.blockSize();
  }

  /**
   * Takes an extent for a node. Datanodes that a client could not reach, or that are impaired, are
   * asked only when no other datanode of any class has space.
   *
   * @param length bytes, a power of two up to the block size; if a class has only smaller extents,
   *     one of these is given
   * @return null when nothing at all is free
   */
  public Allocation allocate(Purpose purpose, int length) {
    long now = clock.nanoTime();
    Allocation extent = take(purpose, length, true, now);
    return extent == null && purpose.lastResort() ? take(purpose, length, false, now) : extent;
  }

  private Allocation take(Purpose purpose, int length, boolean careful, long now) {
    int[] order = classOrders[purpose.storageClass()];
    int tried = purpose.strict() ? 1 : order.length;
    Allocation extent = null;
    for (int i = 0; i < tried && extent == null; i++) {
      extent = take(purpose, order[i], length, careful, now);
    }
    return extent;
  }

  /** Takes an extent of one class: as long as wanted on any host rather than a shorter one. */
  private Allocation take(
      Purpose purpose, int storageClass, int length, boolean careful, long now) {
    ClassMembers members = classes[storageClass];
    int count = members.count();
    int first = count == 0 ? 0 : selections[storageClass].first(members);
    for (int choice = 0; choice < 2 * Purpose.HOSTS && count > 0; choice++) {
      boolean orLess = choice >= Purpose.HOSTS;
      for (int i = 0; i < count; i++) {
        DatanodeSpace datanode = members.datanodes()[(first + i) % count];
        if (purpose.isOfHost(choice % Purpose.HOSTS, datanode)
            && mayAsk(datanode, purpose, careful, now)) {
          FreePieces.Piece piece = datanode.take(length, orLess);
          if (piece != null) {
            return new Allocation(datanode, piece, purpose.fileOffset());
          }
        }
      }
    }
    return null;
  }

  private boolean mayAsk(DatanodeSpace datanode, Purpose purpose, boolean careful, long now) {
    return datanode != purpose.except()
        && isOnline(datanode, purpose, now)
        && !(careful && isOutOfReach(datanode, purpose.client(), now));
  }

  private boolean isOnline(DatanodeSpace datanode, Purpose purpose, long now) {
    return purpose.lastResort()
        ? datanode.isOnline(now, options.offlineNanos())
        : datanode.isWell(now, options.presentNanos());
  }

  /**
   * True when this client could not reach the datanode lately, any client could not since the
   * datanode's last sign of life, or it says that it does not reach all of its space itself.
   */
  private static boolean isOutOfReach(DatanodeSpace datanode, ClientLeases client, long now) {
    return datanode.signs().isAskedLast() || (client != null && client.avoids(datanode.id(), now));
  }

  /**
   * Notes that a client could not reach a datanode. Other datanodes are then asked first: for this
   * client as long as a datanode may be silent, for other clients until the datanode's next sign of
   * life. So a client that reports falsely, or has lost its network, affects the others only until
   * that sign of life.
   *
   * @param isFull whether it was reached, and has no memory for space that it has announced
   */
  public void outOfReach(DatanodeSpace datanode, ClientLeases client, boolean isFull) {
    long now = clock.nanoTime();
    client.avoid(datanode.id(), now, now + options.offlineNanos());
    if (datanode.signs().suspect()) {
      log.info(
          isFull
              ? datanode + " could not take bytes of a client: its file system is full"
              : datanode + " could not be reached by a client");
    }
  }

  /**
   * Takes back an extent of a node.
   *
   * @param leaseEndNanos when the writer's lease ends or ended; ignored without a writer
   * @param writer the holder of the lease; null without a lease
   * @param canReport whether the writer can still report that no write is on its way
   */
  void release(Allocation extent, long leaseEndNanos, Quarantine.Writer writer, boolean canReport) {
    boolean leased = writer != null;
    DatanodeSpace datanode = extent.datanode();
    FreedByRecords replayed = freed;
    boolean isSafe = datanode.checksGeneration() && !leased && !extent.isSealed();
    if (replayed != null) {
      replayed.free(extent, writer, !isSafe);
      return;
    }
    boolean lost = datanode.state() == DatanodeSpace.State.DEAD;
    if (lost || isSafe) {
      quarantine.returned().free(extent);
      return;
    }
    long now = clock.nanoTime();
    // The end of the lease before a seal is not remembered, but that lease has ended.
    long ready = datanode.checksGeneration() ? now : now + options.leaseNanos();
    // The writer's word is not enough where readers may have a location or another client wrote
    // before the seal.
    boolean endsEarly = datanode.checksGeneration() && !extent.isSealed();
    if (leased && leaseEndNanos - ready > 0) {
      ready = leaseEndNanos;
    }
    datanode.countAsWaiting(extent.allocatedLength());
    boolean heard = endsEarly || !datanode.checksGeneration();
    quarantine.add(extent, restedNanos(extent, ready), heard ? writer : null, canReport, endsEarly);
  }

  /**
   * Notes that a writer's lease ran out while the node keeps an extent there. If the datanode can
   * cut off clients, it must cut off this one.
   */
  void cutOff(DatanodeSpace datanode, long client) {
    if (datanode.cutsOff()) {
      quarantine.cutOffs(datanode).order(client, clock.nanoTime());
    }
  }

  /**
   * Takes back an extent that no record has given to anybody. On every tier the next owner may have
   * it at once.
   */
  public void giveBack(Allocation extent) {
    extent.free();
  }

  /**
   * Takes an extent for a copy of another one, see {@link #grant}.
   *
   * @param purpose the purpose, which names the datanode of the other extent as the exception
   * @param id the datanode to take it from, or {@link BeginMove#ANY_DATANODE}
   * @param original the extent that is copied
   * @return null when no extent is as long
   */
  public Allocation takeForCopy(Purpose purpose, int id, Allocation original) {
    int length = Extent.lengthFor(original.length(), options.blockSize());
    Allocation extent =
        id == BeginMove.ANY_DATANODE ? allocate(purpose, length) : allocateAt(purpose, id, length);
    if (extent != null && extent.length() < length) {
      giveBack(extent);
      extent = null;
    }
    return extent != null && extent.fileEnd() > original.fileEnd()
        ? extent.sealedAt(original.fileEnd())
        : extent;
  }

  /**
   * Grants an extent that was taken to a client, for a copy. It rests until its writer's lease is
   * over, unless {@link #takeGranted} gives it to a node before.
   */
  void grant(Allocation extent, Quarantine.Grant grant) {
    extent.datanode().grant(extent.allocatedLength());
    long endNanos = clock.nanoTime() + options.leaseNanos();
    quarantine.add(extent, restedNanos(extent, endNanos), grant, true, true);
  }

  /** When what began before the end of a lease is in its place. */
  long restedNanos(Allocation extent, long leaseEndNanos) {
    return leaseEndNanos + extent.datanode().marginNanos(options.freeMarginNanos());
  }

  /** Whether a datanode is well and takes data; true also for {@link BeginMove#ANY_DATANODE}. */
  public boolean isWell(int id, int storageClass) {
    long now = clock.nanoTime();
    return id == BeginMove.ANY_DATANODE
        || Arrays.stream(classes[storageClass].datanodes())
            .anyMatch(each -> each.id() == id && each.isWell(now, options.presentNanos()));
  }

  /** Takes an extent at one datanode, which has to be of the right class. */
  private Allocation allocateAt(Purpose purpose, int id, int length) {
    for (DatanodeSpace datanode : classes[purpose.storageClass()].datanodes()) {
      if (datanode.id() == id
          && datanode != purpose.except()
          && isOnline(datanode, purpose, clock.nanoTime())) {
        FreePieces.Piece piece = datanode.take(length, false);
        return piece == null ? null : new Allocation(datanode, piece, purpose.fileOffset());
      }
    }
    return null;
  }

  /**
   * Takes back an extent whose node uses another one with the same bytes. Readers may use its
   * location for a lease from now on. So it rests that long even where generations are checked: a
   * datanode that is being removed must not end before.
   */
  void releaseMoved(Allocation extent) {
    FreedByRecords replayed = freed;
    if (replayed != null) {
      replayed.free(extent, null, true);
      return;
    }
    DatanodeSpace datanode = extent.datanode();
    if (datanode.state() == DatanodeSpace.State.DEAD) {
      extent.free();
      return;
    }
    datanode.countAsWaiting(extent.allocatedLength());
    long endNanos = clock.nanoTime() + options.leaseNanos();
    quarantine.add(extent, restedNanos(extent, endNanos), null, false, false);
  }

  /** The extent that was granted for a copy; null when it is granted no longer. */
  public Allocation granted(long grant, long token) {
    return quarantine.granted(grant, token);
  }

  /**
   * Takes an extent for the node for which it was granted.
   *
   * @param purpose the purpose of the node's space
   * @param bytes bytes that were written to the extent
   * @return null when the extent is granted no longer, or was granted for another purpose
   */
  public Allocation takeGranted(long grant, long token, Purpose purpose, long bytes) {
    Allocation extent =
        quarantine.take(
            grant,
            token,
            purpose,
            bytes,
            datanode -> isOnline(datanode, purpose, clock.nanoTime()));
    if (extent != null) {
      extent.datanode().useGranted(extent.allocatedLength());
    }
    return extent;
  }

  /** Notes that the writer of a removed node has no write in progress and will begin none. */
  public void letGo(long node, long token) {
    quarantine.letGo(node, token);
  }

  /**
   * The number of writers of removed nodes, and of copies, that can still release space; for tests.
   */
  public int awaitedWriters() {
    return quarantine.writers();
  }

  /**
   * From now on, until {@link #endReplay}, records say which space nodes have. What becomes free
   * can be taken again at once, since a record says who has got it.
   */
  void beginReplay() {
    freed = new FreedByRecords(options.leaseNanos(), options.freeMarginNanos());
  }

  /**
   * Notes when the changes of the next records were made.
   *
   * @param nanos time that has passed since any moment
   */
  void replayedAt(long nanos) {
    freed.at(nanos);
  }

  /**
   * Notes that a client may access an extent that belongs to no node.
   *
   * @param extent an extent that is free
   * @param writer the client that may write to it; null if it may only read
   */
  void mayBeAccessed(Allocation extent, Quarantine.Writer writer) {
    freed.add(extent, writer);
  }

  /** Lets space that becomes free wait until the record is durable that says so. */
  public void returnAfter(ReturnedSpace.Records records) {
    quarantine.returned().waitFor(records);
  }

  /**
   * Lets rest what the last records have freed, since clients may still access it.
   *
   * @param datanodes those that are not forgotten
   */
  void endReplay(Collection<DatanodeSpace> datanodes) {
    FreedByRecords last = freed;
    freed = null;
    // A datanode must not take a list for one of an earlier start, or of another peer, which it has
    // done. Peers may have begun to replay at the same time, but one ends it before the next.
    quarantine.numberCutOffsAfter(clock.currentTimeMillis() << CUT_OFF_SHIFT);
    Set<DatanodeSpace> known = Set.copyOf(datanodes);
    last.resting().stream()
        .filter(each -> known.contains(each.datanode()))
        .forEach(each -> rest(each.datanode(), each.region(), each.restNanos()));
    known.forEach(each -> resting.beginToHold(each, restNanos(each)));
    long now = clock.nanoTime();
    for (FreedByRecords.Freed each : last.latestFirst()) {
      Allocation extent = each.extent();
      DatanodeSpace datanode = extent.datanode();
      if (known.contains(datanode)
          && datanode.state() != DatanodeSpace.State.DEAD
          && datanode.claim(extent.place(), extent.allocatedLength())) {
        datanode.countAsWaiting(extent.allocatedLength());
        long end = now + options.leaseNanos();
        quarantine.add(extent, restedNanos(extent, end), each.writer(), false, false);
      }
    }
  }

  /** Frees extents and regions that have waited long enough. Returns their number. */
  public int reclaim() {
    long now = clock.nanoTime();
    return resting.wake(now) + quarantine.reclaim(now, RECLAIM_BATCH);
  }

  /** Notes for how long writers may wait for datanodes of a class that somebody starts. */
  public void announce(int storageClass, long millis) {
    prospects.announce(storageClass, millis);
  }

  /**
   * The error of a node that has found no space. It says where, and what to do or what will come.
   *
   * @param what the owner of the space, for the error
   * @param storageClass the node's class
   * @param strict whether it takes no other class
   * @return an exception with {@link ErrorCode#SPACE_TO_COME} when space is known to come, else
   *     with {@link ErrorCode#NO_SPACE}
   */
  public CrailException shortage(Object what, int storageClass, boolean strict) {
    List<DatanodeSpace> all =
        Arrays.stream(classes).flatMap(each -> Arrays.stream(each.datanodes())).toList();
    String where = (strict ? "strictly from storage class " : "from storage class ") + storageClass;
    return prospects.shortage(
        what,
        where,
        all,
        datanode -> mayHave(storageClass, strict, datanode),
        other -> takes(storageClass, strict, other));
  }

  private boolean mayHave(int storageClass, boolean strict, DatanodeSpace datanode) {
    return datanode.state() == DatanodeSpace.State.ACTIVE
        && takes(storageClass, strict, datanode.storageClass());
  }

  /** Whether a node of a class takes space of another one. */
  private boolean takes(int storageClass, boolean strict, int present) {
    return present == storageClass
        || (!strict
            && Arrays.stream(classOrders[storageClass]).anyMatch(other -> other == present));
  }
}
