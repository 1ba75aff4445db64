/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.lease.ClientLeases;
import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.lease.WriteLease;
import io.crail.namenode.space.Allocation;
import io.crail.namenode.space.AllocationList;
import io.crail.namenode.space.BlockStore;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.MovingBytes;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.Quarantine;
import io.crail.namenode.space.SmallBytes;
import io.crail.namenode.space.SmallValues;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

/**
 * What a node's writer does: takes the write lease, gets space, makes bytes visible, goes away. A
 * node has one writer; readers see its committed size. Every method takes the node's monitor.
 * Thread-safe.
 */
public final class NodeWriter {
  private final BlockStore store;
  private final LeaseTable<Node> leases;
  private final SmallValues smallValues;
  private final Clock clock;

  /** For taking all space that is needed: beside others, or alone. */
  private final ReadWriteLock allOrNothing = new ReentrantReadWriteLock();

  public NodeWriter(
      BlockStore store, LeaseTable<Node> leases, SmallValues smallValues, Clock clock) {
    this.store = store;
    this.leases = leases;
    this.smallValues = smallValues;
    this.clock = clock;
  }

  /** Checks what a node is to be created with. */
  void prepare(Create.Request request) throws CrailException {
    int length = request.value().length();
    if (length > 0 && request.type() != NodeType.KEYVALUE) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          request.path() + ": a value is for a key-value, not for a " + request.type());
    }
    if (request.needed() && (request.token() == 0 || request.type().isContainer())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          request.path() + ": space is needed by somebody with a write lease");
    }
    Create.Ahead ahead = request.ahead();
    if (ahead.bytes() < 0
        || (ahead.grant() != 0
            && (request.type() != NodeType.KEYVALUE
                || request.wanted() <= 0
                || length > 0
                || (request.token() == 0 && !ahead.written())))) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          request.path()
              + ": space given ahead for "
              + request.wanted()
              + " bytes of a "
              + request.type()
              + ", and "
              + ahead.bytes()
              + " to come");
    }
  }

  /**
   * Gives a new node what it is created with: the small value; or the space where its bytes lie
   * already; or the write lease, and the space that its writer needs or is writing to. Before
   * anybody finds the node, in its parent's monitor, so that the order in which nodes come under a
   * name is that in which this is decided.
   *
   * @param old the node in whose place it comes, which is destroyed then, or null
   * @throws CrailException with {@link ErrorCode#NO_SPACE} and others; then nothing was taken, but
   *     space that was given ahead may be there no longer
   */
  public void equip(Node node, Create.Request request, Node old, long clientId)
      throws CrailException {
    int length = request.value().length();
    if (length > 0 && takeSmall(length, old)) {
      node.space(new SmallBytes(request.value().bytes()));
      return;
    }
    Allocation granted = request.ahead().grant() == 0 ? null : takeGranted(node, request);
    if (granted != null && request.ahead().written()) {
      granted.commit(request.wanted());
      node.space(granted);
      return;
    }
    if (granted != null) {
      equipForWriter(node, request, granted, clientId);
      return;
    }
    if (request.token() == 0) {
      if (length > 0) {
        throw smallValues.refusal(request.path(), length);
      }
      return;
    }
    if (request.type().isContainer()) {
      return;
    }
    NodeSpace space = request.needed() ? allocateAll(node, request, leases.of(clientId)) : null;
    try {
      synchronized (node) {
        node.lease(leases.grant(node, clientId, request.token()));
        node.space(space);
        beginPut(node, request);
      }
    } catch (CrailException e) {
      giveBackExtents(space);
      throw e;
    }
  }

  private static BlockStore.Purpose purpose(Node node, ClientLeases<Node> client) {
    return new BlockStore.Purpose(node.storageClass(), node.isStrict(), node.host(), client);
  }

  /** Takes the extent that was given for the bytes of a new node; null when that is gone. */
  private Allocation takeGranted(Node node, Create.Request request) {
    Create.Ahead ahead = request.ahead();
    return store.takeGranted(ahead.grant(), ahead.token(), purpose(node, null), request.wanted());
  }

  /** Gives a new node the extent that its bytes are on their way to, and the write lease. */
  private void equipForWriter(Node node, Create.Request request, Allocation extent, long clientId)
      throws CrailException {
    try {
      synchronized (node) {
        WriteLease<Node> lease = leases.grant(node, clientId, request.token());
        // Other than space that a create brings, this may be written to before anybody asks.
        lease.spaceInUse();
        node.lease(lease);
        node.space(extent);
        beginPut(node, request);
      }
    } catch (CrailException e) {
      // Whoever has it may write to it until then, as before.
      store.releaseGranted(extent, new Quarantine.Writer(node.id(), request.token(), clientId));
      throw e;
    }
  }

  /** Who needs space for all bytes of a value puts it as a whole. */
  private static void beginPut(Node node, Create.Request request) {
    if (request.needed() && request.wanted() > 0 && request.type() == NodeType.KEYVALUE) {
      node.beginPut();
    }
  }

  /**
   * Takes an extent for the next value that is put as a node was.
   *
   * @param id names it, and no node
   * @param token whose it is
   * @param clientId who may write to it
   * @return null when there is none to spare
   */
  public Extent grant(Node node, long id, long token, long clientId, int bytes) {
    if (bytes > store.blockSize()) {
      return null;
    }
    int length = Extent.lengthFor(bytes, store.blockSize());
    Allocation extent =
        store.grant(
            new Quarantine.Grant(
                id, token, clientId, node.storageClass(), node.isStrict(), node.host()),
            leases.of(clientId),
            length);
    return extent == null ? null : extent.extent();
  }

  /** True when there is memory for a small value, without taking any from removed ones. */
  boolean hasMemory(int smallLength) {
    return smallValues.needsNoMore(smallLength);
  }

  /**
   * As {@link #equip}, with a small value; false, and nothing is done, when it has to go elsewhere.
   */
  boolean equipSmall(Node node, SmallBytes value, Node old) {
    if (!takeSmall(value.small().length, old)) {
      return false;
    }
    node.space(value);
    return true;
  }

  /** Takes memory for a value in the place of a node, whose writer may give its own back. */
  private boolean takeSmall(int length, Node old) {
    if (old == null) {
      return smallValues.take(length, null);
    }
    synchronized (old) {
      return smallValues.take(length, small(old.space()));
    }
  }

  /**
   * All space for the bytes that are wanted, as far as one answer has extents for it. Of those who
   * take as much at once each may get a part of what one of them needs, or nothing because of it.
   * So whoever got too little tries again alone, and finds what the others have let go.
   */
  private NodeSpace allocateAll(Node node, Create.Request request, ClientLeases<Node> client)
      throws CrailException {
    long wanted = request.wanted();
    NodeSpace space = allocateAll(node, wanted, client, allOrNothing.readLock());
    if (space == null && wanted > 0) {
      space = allocateAll(node, wanted, client, allOrNothing.writeLock());
      if (space == null) {
        throw noSpace(request.path(), node);
      }
    }
    return space;
  }

  /** The space, or null where there is less. */
  private NodeSpace allocateAll(Node node, long wanted, ClientLeases<Node> client, Lock lock) {
    lock.lock();
    try {
      NodeSpace space = allocateMost(node, wanted, client);
      if (space != null && space.end() < wanted && space.count() < Extend.MAX_EXTENTS) {
        giveBackExtents(space);
        return null;
      }
      return space;
    } finally {
      lock.unlock();
    }
  }

  private NodeSpace allocateMost(Node node, long wanted, ClientLeases<Node> client) {
    NodeSpace space = null;
    long end = 0;
    while (end < wanted && (space == null || space.count() < Extend.MAX_EXTENTS)) {
      // As if each were the first: no larger than what is known to come.
      Allocation next = allocate(node, null, client, end, wanted - end);
      if (next == null) {
        return space;
      }
      space = space == null ? next : space.with(next);
      end = next.fileEnd();
    }
    return space;
  }

  /** Gives back extents that nobody was told of, or that nobody writes to any more. */
  private void giveBackExtents(NodeSpace space) {
    for (int i = space == null ? -1 : space.count() - 1; i >= 0; i--) {
      store.giveBack(space.at(i));
    }
  }

  private static byte[] small(NodeSpace space) {
    return space == null ? null : space.small();
  }

  /** Gives the memory of a small value back; of anything else nothing. */
  private void giveBackSmall(NodeSpace space) {
    byte[] small = small(space);
    if (small != null) {
      smallValues.giveBack(small.length);
    }
  }

  /** Gives the write lease to whoever asks first when nobody has it. */
  public AcquireLease.Response acquire(Node node, long clientId, long token) throws CrailException {
    requireBytes(node);
    if (token == 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("write lease 0");
    }
    synchronized (node) {
      requirePresent(node);
      WriteLease<Node> lease = node.lease();
      if (lease == null) {
        node.lease(leases.grant(node, clientId, token));
      } else if (lease.token() == token && lease.isHeld()) {
        leases.seen(lease);
      } else {
        throw ErrorCode.WRITE_LEASE_HELD.exception(node.toString());
      }
      NodeSpace space = node.space();
      byte[] small = small(space);
      if (small != null) {
        return new AcquireLease.Response(node.info(), List.of(), SmallValue.of(small));
      }
      int index = space == null ? 0 : space.indexOf(node.size());
      return new AcquireLease.Response(
          node.info(),
          space == null || index == space.count() ? List.of() : List.of(space.at(index).extent()),
          SmallValue.NONE);
    }
  }

  /** Whether a client still has a write lease: OK, or the error that a write gets. */
  public ErrorCode check(Node node, long clientId, long token) {
    synchronized (node) {
      WriteLease<Node> lease = node.lease();
      if (node.isRemoved()) {
        return ErrorCode.STALE_NODE;
      }
      return lease != null
              && lease.token() == token
              && lease.client().clientId() == clientId
              && lease.isHeld()
          ? ErrorCode.OK
          : ErrorCode.WRITE_LEASE_LOST;
    }
  }

  /**
   * Answers with the extents from a position on, allocating those that the writer wants.
   *
   * @param most most extents of the answer; no more are allocated either
   * @param asked whether the writer asks; false for what it gets with the create
   */
  public List<Extent> extend(Node node, Extend.Request request, int most, boolean asked)
      throws CrailException {
    requireBytes(node);
    if (request.wanted() < 0 || request.size() < -1) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": " + request.wanted() + " bytes wanted, size " + request.size());
    }
    List<Extent> extents = tryExtend(node, request, most, asked);
    if (extents.isEmpty()) {
      throw noSpace(node, node);
    }
    return extents;
  }

  private CrailException noSpace(Object what, Node node) {
    return ErrorCode.NO_SPACE.exception(
        what
            + (node.isStrict() ? ": strictly from storage class " : ": from storage class ")
            + node.storageClass()
            + store.prospect(node.storageClass(), node.isStrict()));
  }

  /** As {@link #extend}; empty when there is no space at all. */
  private List<Extent> tryExtend(Node node, Extend.Request request, int most, boolean asked)
      throws CrailException {
    synchronized (node) {
      requirePresent(node);
      requireLease(node, request.token());
      if (asked) {
        node.lease().spaceInUse();
      }
      NodeSpace space = node.space();
      long end = space == null ? 0 : space.end();
      if (request.position() < 0 || request.position() > end) {
        throw ErrorCode.OUT_OF_RANGE.exception(
            node + ": position " + request.position() + ", its space ends at " + end);
      }
      commit(node, request.size(), end);
      // A small value that had moved is now elsewhere.
      space = node.space();
      int first = space == null ? 0 : space.indexOf(request.position());
      long target = saturatedSum(request.position(), Math.max(request.wanted(), 1));
      while (end < target && (space == null ? 0 : space.count()) - first < most) {
        Allocation next = allocate(node, space, node.lease().client(), end, target - end);
        if (next == null) {
          break;
        }
        space = space == null ? next : space.with(next);
        node.space(space);
        end = next.fileEnd();
      }
      return space == null
          ? List.of()
          : extents(space, first, Math.min(space.count(), first + most));
    }
  }

  /**
   * Gives a writer other space in the place of an extent that it could not write to. What is on its
   * way there may still arrive, so the extent rests as if its writer had vanished. When it has been
   * replaced already, since an answer was lost, the answer is the same.
   *
   * @throws CrailException with {@link ErrorCode#NO_SPACE} when there is none elsewhere; then the
   *     node has what it had
   */
  public List<Extent> replace(Node node, ReplaceExtent.Request request) throws CrailException {
    requireBytes(node);
    if (request.reason() > ReplaceExtent.SILENT) {
      throw ErrorCode.INVALID_ARGUMENT.exception(node + ": reason " + request.reason());
    }
    List<Extent> extents = tryReplace(node, request);
    if (extents.isEmpty()) {
      throw noSpace(node, node);
    }
    return extents;
  }

  /** As {@link #replace}; empty when there is no space elsewhere. */
  private List<Extent> tryReplace(Node node, ReplaceExtent.Request request) throws CrailException {
    synchronized (node) {
      requirePresent(node);
      requireLease(node, request.token());
      Extent named = request.extent();
      int index = node.space() == null ? 0 : node.space().indexOf(named.fileOffset());
      if (named.fileOffset() < 0 || node.space() == null || index == node.space().count()) {
        throw ErrorCode.OUT_OF_RANGE.exception(node + ": no space at " + named.fileOffset());
      }
      Allocation present = node.space().at(index);
      if (present.extent().equals(named) && !tryReplace(node, index, request.reason())) {
        return List.of();
      }
      NodeSpace space = node.space();
      int end = index + 1;
      while (end < Math.min(space.count(), index + Extend.MAX_EXTENTS)
          && space.at(end).fileOffset() < named.fileEnd()) {
        end++;
      }
      return extents(space, index, end);
    }
  }

  /** Replaces an extent; false when there is no space elsewhere. Under the node's monitor. */
  private boolean tryReplace(Node node, int index, int reason) throws CrailException {
    NodeSpace space = node.space();
    Allocation present = space.at(index);
    if (space.small() == null && present.fileOffset() < space.size()) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": readers see bytes of the extent at " + present.fileOffset());
    }
    WriteLease<Node> lease = node.lease();
    lease.spaceInUse();
    BlockStore.Purpose purpose = purpose(node, lease.client());
    if (reason != ReplaceExtent.PINNED) {
      DatanodeSpace unreachable = present.region().datanode();
      store.outOfReach(unreachable, lease.client());
      // Who is only slow is better than who is not there.
      purpose = purpose.except(unreachable, reason == ReplaceExtent.UNREACHABLE);
    }
    NodeSpace others = allocateInPlace(purpose, present);
    if (others == null) {
      return false;
    }
    if (space instanceof MovingBytes moving) {
      moving.extents(AllocationList.replacing(moving.extents(), index, others));
    } else {
      node.space(AllocationList.replacing(space, index, others));
    }
    store.release(present, lease.endNanos(), writer(lease), false);
    return true;
  }

  /** Other space for all bytes of an extent; null when there is too little. */
  private NodeSpace allocateInPlace(BlockStore.Purpose purpose, Allocation extent) {
    NodeSpace space = null;
    long end = extent.fileOffset();
    while (end < extent.fileEnd()) {
      int length = Integer.highestOneBit((int) (extent.fileEnd() - end));
      boolean fits = space == null || space.count() < Extend.MAX_EXTENTS;
      Allocation next = fits ? store.allocate(purpose, end, length) : null;
      if (next == null) {
        giveBackExtents(space);
        return null;
      }
      space = space == null ? next : space.with(next);
      end = next.fileEnd();
    }
    return space;
  }

  /** Makes bytes visible and, if asked, ends the write lease. */
  public void setSize(Node node, SetSize.Request request) throws CrailException {
    requireBytes(node);
    SmallValue value = request.value();
    if (request.close() > SetSize.EXPIRE || request.size() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": size " + request.size() + ", close " + request.close());
    }
    if (value.length() > 0
        && (node.type() != NodeType.KEYVALUE
            || request.close() != SetSize.END
            || request.size() != value.length())) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a value of " + value.length() + " bytes for the size " + request.size());
    }
    synchronized (node) {
      if (node.isRemoved()) {
        farewell(node, request);
      }
      requirePresent(node);
      WriteLease<Node> lease = node.lease();
      if (wasSaid(node, lease, request)) {
        return;
      }
      requireLease(node, request.token());
      NodeSpace space = node.space();
      if (value.length() > 0) {
        keepSmall(node, lease, value);
      } else {
        commit(node, request.size(), space == null ? 0 : space.end());
      }
      if (request.close() == SetSize.END) {
        // All writes were acknowledged, so nothing is on its way to what is cut off.
        leases.end(lease);
        node.lease(null);
        node.markEnded(request.token());
        node.abandonPut();
        cutOff(node, store::giveBack);
      } else if (request.close() == SetSize.EXPIRE) {
        leases.endLater(lease);
      }
    }
  }

  /**
   * Lets a node have a small value in the place of what it has, which is nothing that is committed,
   * or a smaller one. Whom a value was refused once writes it to extents: an earlier copy of the
   * request that comes now, over another connection, must not take those away. Nothing was written
   * to what came with a create; what a writer has asked for, or has named in the create, it may be
   * writing to.
   */
  private void keepSmall(Node node, WriteLease<Node> lease, SmallValue value)
      throws CrailException {
    NodeSpace old = node.space();
    if (value.length() < node.size() || (old != null && old.small() == null && old.size() > 0)) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          node + ": a small value of " + value.length() + " bytes instead of " + node.size());
    }
    if (lease.isValueRefused() || !smallValues.take(value.length(), small(old))) {
      lease.refuseValue();
      throw smallValues.refusal(node, value.length());
    }
    node.space(new SmallBytes(value.bytes()));
    node.endPut();
    node.touch(clock.currentTimeMillis());
    giveBackSmall(old);
    if (old != null && lease.mayBeWriting()) {
      release(old, lease, false);
    } else {
      giveBackExtents(old);
    }
  }

  /**
   * Takes note of what a writer says whose node is gone: if that was its end, all its writes were
   * acknowledged, and its space need not rest. It is refused all the same, and may say it again.
   *
   * @param node null when nobody knows it any more
   */
  public void farewell(Node node, SetSize.Request request) {
    if (request.close() != SetSize.END) {
      return;
    }
    if (node != null) {
      synchronized (node) {
        WriteLease<Node> lease = node.lease();
        if (lease != null && lease.token() == request.token() && lease.isHeld()) {
          // The space is still to be taken from the node.
          leases.end(lease);
          node.lease(null);
        }
      }
    }
    store.letGo(request.id(), request.token());
  }

  /**
   * True when a writer says farewell again, because the answer got lost, and all that it asks for
   * is done. Who lost its lease has not said it before, though the size may be what it wants.
   */
  private static boolean wasSaid(Node node, WriteLease<Node> lease, SetSize.Request request) {
    boolean own = lease != null && lease.token() == request.token();
    switch (request.close()) {
      case SetSize.END:
        return !own && node.wasEnded(request.token()) && request.size() <= node.size();
      case SetSize.EXPIRE:
        return own && lease.isEnding() && request.size() <= node.size();
      default:
        return false;
    }
  }

  /** Cuts off what the writer of a lease that ran out has not committed, and seals what is left. */
  public void expire(WriteLease<Node> lease) {
    Node node = lease.subject();
    synchronized (node) {
      if (node.isRemoved() || node.lease() != lease) {
        return;
      }
      node.abandonPut();
      long now = clock.nanoTime();
      Quarantine.Writer writer = writer(lease);
      cutOff(node, extent -> store.release(extent, now, writer, false));
      NodeSpace space = node.space();
      if (space != null && space.small() == null && node.size() < space.end()) {
        // The old writer's late writes may still hit this extent, whenever they come: the next
        // writer goes on in space of another generation, and these bytes lie where nobody looks.
        Allocation last = space.at(space.count() - 1);
        node.space(AllocationList.withLast(space, last.sealedAt(node.size())));
        store.cutOff(last, writer.client());
      }
      node.lease(null);
    }
  }

  /** Takes a node's lease and space away, for good; once for each node. */
  public void destroy(Node node) {
    synchronized (node) {
      WriteLease<Node> lease = node.lease();
      NodeSpace space = node.space();
      if (space != null) {
        // The node keeps it: who found the node before sees what was there, not an empty one.
        release(space, lease, lease != null && lease.isHeld());
      }
      giveBackSmall(space);
      if (lease != null) {
        leases.end(lease);
        node.lease(null);
      }
    }
  }

  /** The extents {@code from} (inclusive) to {@code to} (exclusive), for the writer. */
  private static List<Extent> extents(NodeSpace space, int from, int to) {
    List<Extent> extents = new ArrayList<>(Math.max(to - from, 0));
    for (int i = from; i < to; i++) {
      extents.add(space.at(i).extent());
    }
    return extents;
  }

  private void commit(Node node, long size, long end) throws CrailException {
    if (size > end && size > node.size()) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": size " + size + ", its space ends at " + end);
    }
    if (size > node.size()) {
      if (node.space() instanceof MovingBytes moving) {
        NodeSpace extents = moving.extents();
        extents.commit(size);
        node.space(extents);
        giveBackSmall(moving);
      }
      node.commit(size, clock.currentTimeMillis());
    }
  }

  private Allocation allocate(
      Node node, NodeSpace space, ClientLeases<Node> client, long end, long needed) {
    int block = store.blockSize();
    int grown =
        space == null || space.count() == 0
            ? Extent.MIN_LENGTH
            : (int) Math.min(block, 2L * space.at(space.count() - 1).allocatedLength());
    int fitting = needed >= block ? block : Math.max(Extent.lengthFor((int) needed, block), grown);
    int length = Math.min(fitting, block);
    return store.allocate(purpose(node, client), end, length);
  }

  /** Takes the extents from a node that lie wholly after the committed size, the last one first. */
  private void cutOff(Node node, Consumer<Allocation> release) {
    NodeSpace space = node.space();
    if (space == null || space.count() == 0) {
      return;
    }
    if (space.small() == null && space.at(space.count() - 1).fileOffset() < node.size()) {
      return;
    }
    int kept = 0;
    if (space.small() != null) {
      // It has moved nowhere.
      node.space(new SmallBytes(space.small()));
    } else {
      kept = node.size() == 0 ? 0 : space.indexOf(node.size() - 1) + 1;
      node.space(AllocationList.prefix(space, kept));
    }
    for (int i = space.count() - 1; i >= kept; i--) {
      release.accept(space.at(i));
    }
  }

  /**
   * Takes extents that were written, or may be, under a lease; null for none.
   *
   * @param maySay whether its holder can still say that it writes no more
   */
  private void release(NodeSpace space, WriteLease<Node> lease, boolean maySay) {
    Quarantine.Writer writer = lease == null ? null : writer(lease);
    long leaseEndNanos = lease == null ? 0 : lease.endNanos();
    for (int i = space.count() - 1; i >= 0; i--) {
      store.release(space.at(i), leaseEndNanos, writer, maySay);
    }
  }

  private static Quarantine.Writer writer(WriteLease<Node> lease) {
    return new Quarantine.Writer(lease.subject().id(), lease.token(), lease.client().clientId());
  }

  private void requireLease(Node node, long token) throws CrailException {
    WriteLease<Node> lease = node.lease();
    if (lease == null || lease.token() != token || !lease.isHeld()) {
      throw ErrorCode.WRITE_LEASE_LOST.exception(node.toString());
    }
    leases.seen(lease);
  }

  private static void requireBytes(Node node) throws CrailException {
    if (node.type().isContainer()) {
      throw ErrorCode.WRONG_TYPE.exception(node + " has no bytes");
    }
  }

  private static void requirePresent(Node node) throws CrailException {
    if (node.isRemoved()) {
      throw ErrorCode.STALE_NODE.exception("node " + node.id());
    }
  }

  private static long saturatedSum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }
}
