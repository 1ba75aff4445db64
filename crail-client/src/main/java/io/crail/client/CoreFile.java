/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.AcquireLease;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/** A handle of a node with bytes. Thread-safe. */
class CoreFile extends CoreNode implements CrailFile {
  private static final VarHandle SIZE;

  static {
    try {
      SIZE = MethodHandles.lookup().findVarHandle(CoreFile.class, "size", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final List<Extent> firstExtents;
  private final long extentsValidUntilNanos;

  /** Bytes that this handle knows of; -1 until the namenode has told. */
  private volatile long size;

  /** Made with the handle of a create, else with the first stream. */
  private volatile HandleLease lease;

  /** The open output stream of this handle, if there is one. */
  private volatile DirectOutput writer;

  /** A handle of a node that is there. */
  CoreFile(
      CoreStore store,
      String path,
      NodeInfo info,
      List<Extent> firstExtents,
      long extentsValidUntilNanos) {
    this(
        store,
        path,
        info.type() == io.crail.protocol.part.NodeType.KEYVALUE
            ? CrailNodeType.KEYVALUE
            : CrailNodeType.DATAFILE,
        info,
        firstExtents,
        extentsValidUntilNanos);
  }

  private CoreFile(
      CoreStore store,
      String path,
      CrailNodeType type,
      NodeInfo info,
      List<Extent> firstExtents,
      long extentsValidUntilNanos) {
    super(store, path, type, null, info);
    this.firstExtents = firstExtents;
    this.extentsValidUntilNanos = extentsValidUntilNanos;
    // Without the fence of a volatile write: nobody else has the handle yet.
    SIZE.set(this, info.size());
  }

  /** A handle of a node that is being created, with the write lease {@code token}. */
  CoreFile(CoreStore store, String path, CrailNodeType type, CreateCall create, long token) {
    super(store, path, type, create, null);
    this.firstExtents = List.of();
    this.extentsValidUntilNanos = 0;
    this.size = -1;
    this.lease = new HandleLease(this, create, token);
  }

  /** By the path, so that whoever repeats a run meets handles in the same order. */
  @Override
  public final int hashCode() {
    return getPath().hashCode();
  }

  /** Bytes that can be read. */
  final long size() {
    long known = size;
    return known >= 0 ? known : infoUnchecked().size();
  }

  /** The node's id. */
  final long id() {
    return infoUnchecked().id();
  }

  /** Tells that the bytes up to {@code newSize} are written. */
  final void grownTo(long newSize) {
    long known = size;
    while (newSize > known && !SIZE.compareAndSet(this, known, newSize)) {
      known = size;
    }
  }

  @Override
  public final long getCapacity() {
    return size();
  }

  @Override
  public CrailFile asFile() throws Exception {
    return this;
  }

  @Override
  public final long getToken() {
    HandleLease known = lease;
    return known == null ? 0 : known.token();
  }

  @Override
  public final long getFd() {
    return id();
  }

  @Override
  public final CrailNode refresh() throws Exception {
    NodeInfo known = info();
    FindExtents.Response response =
        store()
            .context()
            .namenodes()
            .call(NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(known.id(), 0, 0))
            .join();
    synchronized (this) {
      // What this handle is writing is known here before it is known there.
      if (lease().isUsed()) {
        grownTo(response.size());
      } else {
        size = response.size();
      }
    }
    return this;
  }

  @Override
  public final CrailInputStream getDirectInputStream(long readHint) throws Exception {
    return openInput(readHint);
  }

  /** Opens a stream to read. */
  final DirectInput openInput(long readHint) throws CrailException, InterruptedException {
    store().checkOpen();
    return openInput(store().context(), readHint, getType() == CrailNodeType.KEYVALUE);
  }

  /**
   * Opens a stream for who has just looked this up: it reads what was there then, also when the
   * node is gone by now. That shows as STALE_NODE only when its bytes have to be asked for again.
   *
   * @param context whose connections are used
   */
  final DirectInput openLookedUp(LoopContext context) throws CrailException, InterruptedException {
    return openInput(context, info().size(), false);
  }

  private DirectInput openInput(LoopContext context, long readHint, boolean revalidates)
      throws CrailException, InterruptedException {
    NodeInfo known = info();
    return DirectInput.open(
        this, context, known.id(), firstExtents, extentsValidUntilNanos, readHint, revalidates);
  }

  @Override
  public final CrailOutputStream getDirectOutputStream(long writeHint) throws Exception {
    return openOutput(writeHint);
  }

  /** Opens a stream to append. */
  final DirectOutput openOutput(long writeHint) throws CrailException, InterruptedException {
    store().checkOpen();
    NodeInfo known = info();
    lease().beginUse();
    try {
      DirectOutput output = openOutput(known, writeHint);
      writer = output;
      store().register(output);
      return output;
    } catch (CrailException | InterruptedException | RuntimeException e) {
      lease.endUse();
      throw e;
    }
  }

  /**
   * Opens a stream to write all bytes of a node whose create has just brought the lease, which is
   * in use since. Waits for nothing.
   *
   * @return null when the answer came so late that the lease has to be acquired again
   */
  final DirectOutput openCreated(LoopContext context, long writeHint)
      throws CrailException, InterruptedException {
    try {
      store().checkOpen();
      DirectOutput output = openWithLeaseOfCreate(context, info(), writeHint);
      return output == null ? null : begun(output);
    } catch (CrailException | InterruptedException | RuntimeException e) {
      lease.endUse();
      lease.giveBack();
      throw e;
    }
  }

  /**
   * As {@link #openCreated}, with the lease acquired again.
   *
   * @param acquired the request under the same token, which has ended
   * @param sentNanos when it was sent, at the latest
   * @throws CrailException its error; WRITE_LEASE_LOST when somebody has written meanwhile
   */
  final DirectOutput openAcquired(
      LoopContext context, AcquireCall acquired, long sentNanos, long writeHint)
      throws CrailException {
    if (acquired.isFailed()) {
      notAcquired(context, acquired, id(), lease.token(), acquired.failure());
      lease.endUse();
      throw acquired.failure();
    }
    try {
      store().checkOpen();
      if (acquired.response().node().size() > 0) {
        throw ErrorCode.WRITE_LEASE_LOST.exception(getPath() + ": somebody else has written");
      }
      return begun(openWithAcquired(context, acquired, lease.token(), sentNanos, writeHint));
    } catch (CrailException | RuntimeException e) {
      lease.endUse();
      lease.giveBack();
      throw e;
    }
  }

  /** Notes a stream that holds no bytes back. */
  private DirectOutput begun(DirectOutput output) throws CrailException {
    output.holdNothing();
    writer = output;
    store().register(output);
    return output;
  }

  /** The creator has the lease, and saves a request while it has surely not run out; else null. */
  private DirectOutput openWithLeaseOfCreate(LoopContext context, NodeInfo known, long writeHint) {
    CreateCall create = create();
    long held = lease.token();
    if (create == null || held == 0 || !create.asksForLease()) {
      return null;
    }
    long leaseNanos = create.context().leaseNanos(known.id());
    if (context.nanoTime() - create.sentNanos() >= leaseNanos / 2) {
      return null;
    }
    WriteLeases.Held term =
        store()
            .leases()
            .opened(known.id(), held, create.sentNanos(), leaseNanos, create.incarnation());
    return new DirectOutput(
        this, context, known, create.extents(), SmallValue.NONE, held, writeHint, term);
  }

  private DirectOutput openOutput(NodeInfo known, long writeHint)
      throws CrailException, InterruptedException {
    LoopContext context = store().context();
    CreateCall create = create();
    long held = lease.token();
    long sentNanos = context.nanoTime();
    if (create != null && !create.asksForLease()) {
      store().creatorLeases().missed();
    }
    DirectOutput created = openWithLeaseOfCreate(context, known, writeHint);
    if (created != null) {
      return created;
    }
    long wanted = held != 0 ? held : store().newToken();
    AcquireCall acquired = acquire(context, known.id(), wanted);
    return openWithAcquired(context, acquired, wanted, sentNanos, writeHint);
  }

  private DirectOutput openWithAcquired(
      LoopContext context, AcquireCall acquired, long wanted, long sentNanos, long writeHint) {
    AcquireLease.Response response = acquired.response();
    NodeInfo present = response.node();
    info(present);
    grownTo(present.size());
    lease.acquired(wanted);
    long leaseNanos = context.leaseNanos(present.id());
    WriteLeases.Held term =
        store()
            .leases()
            .opened(present.id(), wanted, sentNanos, leaseNanos, acquired.incarnation());
    return new DirectOutput(
        this, context, present, response.extents(), response.value(), wanted, writeHint, term);
  }

  private AcquireCall acquire(LoopContext context, long id, long wanted)
      throws CrailException, InterruptedException {
    CreatorLeases leases = store().creatorLeases();
    long returned = leases.returned();
    try {
      return tryAcquire(context, id, wanted);
    } catch (WriteLeaseHeldException e) {
      // The holder may be a handle of this store that was created and never written.
      LeaseReturn.Try back = leases.release(id, getPath());
      if (back != null) {
        back.awaitGone();
      } else if (leases.returned() == returned) {
        throw e;
      }
      return tryAcquire(context, id, wanted);
    }
  }

  private AcquireCall tryAcquire(LoopContext context, long id, long wanted)
      throws CrailException, InterruptedException {
    AcquireCall call = new AcquireCall(context, id, wanted);
    call.submit();
    try {
      call.join();
      return call;
    } catch (CrailException e) {
      notAcquired(context, call, id, wanted, e);
      throw e;
    } catch (InterruptedException e) {
      lease.inDoubt(context, call, id, wanted);
      throw e;
    }
  }

  private void notAcquired(
      LoopContext context, AcquireCall call, long id, long wanted, CrailException failure) {
    if (LeaseReturn.isDoubtful(failure)) {
      lease.inDoubt(context, call, id, wanted);
    } else {
      lease.refused();
    }
  }

  /** The write lease of this handle. */
  final HandleLease lease() {
    HandleLease known = lease;
    return known != null ? known : makeLease();
  }

  private synchronized HandleLease makeLease() {
    if (lease == null) {
      lease = new HandleLease(this, create(), 0);
    }
    return lease;
  }

  /** True when the create of this node was sent before a time. */
  final boolean createdBefore(long nanos) {
    return create().sentNanos() - nanos < 0;
  }

  /** Where the open output stream of this handle has put a position, or null. */
  final LocatedExtent locatedByWriter(long position, long nowNanos) {
    DirectOutput output = writer;
    return output == null || position >= size ? null : output.locate(position, nowNanos);
  }

  /** What the open output stream of this handle holds back, or null. */
  final byte[] heldByWriter() {
    DirectOutput output = writer;
    return output == null ? null : output.held();
  }

  /**
   * All bytes of a small value, as far as they may be read without asking anybody; else null.
   * Asking for them may be what uses them up.
   */
  byte[] knownValue(long nowNanos) {
    return null;
  }

  /** True while what came with the lookup is good. */
  final boolean areFirstExtentsValid(long nowNanos) {
    return extentsValidUntilNanos - nowNanos > 0;
  }

  /** Tells that the stream has ended, and how its lease is given back. */
  final void writerClosed(DirectOutput output, LeaseReturn farewell) {
    store().unregister(output);
    writer = null;
    lease.endUse(farewell);
  }

  @Override
  public final CrailBufferedInputStream getBufferedInputStream(long readHint) throws Exception {
    return new BufferedFileInput(openInput(readHint));
  }

  @Override
  public final CrailBufferedOutputStream getBufferedOutputStream(long writeHint) throws Exception {
    return new BufferedFileOutput(openOutput(writeHint));
  }

  @Override
  public final CrailBlockLocation[] getBlockLocations(long start, long length) throws Exception {
    return store().locations().find(store().context(), info(), start, length);
  }
}
