/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.client.lease.AcquireCall;
import io.crail.client.lease.CreateCall;
import io.crail.client.lease.CreatorLeases;
import io.crail.client.lease.HandleLease;
import io.crail.client.lease.LeaseReturn;
import io.crail.client.lease.WriteLeases;
import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.stream.BufferedFileInput;
import io.crail.client.stream.BufferedFileOutput;
import io.crail.client.stream.DirectInput;
import io.crail.client.stream.DirectOutput;
import io.crail.client.stream.OpenedOutput;
import io.crail.client.stream.StreamFile;
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
import java.lang.ref.SoftReference;
import java.util.List;

/** A handle of a node with bytes. Thread-safe. */
public class CoreFile extends CoreNode implements CrailFile, StreamFile {
  private static final VarHandle SIZE;
  private static final VarHandle LOOKED_UP;

  static {
    try {
      SIZE = MethodHandles.lookup().findVarHandle(CoreFile.class, "size", long.class);
      LOOKED_UP =
          MethodHandles.lookup().findVarHandle(CoreFile.class, "lookedUp", SoftReference.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final List<Extent> firstExtents;
  private final long extentsValidUntilNanos;

  /**
   * All bytes of a small value that came with the lookup, good as long as its extents; else null. A
   * program may keep many handles, so the bytes go when memory is short.
   */
  private volatile SoftReference<byte[]> lookedUp;

  /** Size in bytes as this handle knows it; -1 until the namenode has returned it. */
  private volatile long size;

  /** Made with the handle of a create, else with the first stream. */
  private volatile HandleLease lease;

  /** The open output stream of this handle, if there is one. */
  private volatile DirectOutput writer;

  /** A handle of a node that exists. */
  CoreFile(
      StoreContext store,
      String path,
      NodeInfo info,
      List<Extent> firstExtents,
      SmallValue value,
      long extentsValidUntilNanos) {
    this(
        store,
        path,
        info.type() == io.crail.protocol.part.NodeType.KEYVALUE
            ? CrailNodeType.KEYVALUE
            : CrailNodeType.DATAFILE,
        info,
        firstExtents,
        value,
        extentsValidUntilNanos);
  }

  private CoreFile(
      StoreContext store,
      String path,
      CrailNodeType type,
      NodeInfo info,
      List<Extent> firstExtents,
      SmallValue value,
      long extentsValidUntilNanos) {
    super(store, path, type, null, info);
    this.firstExtents = firstExtents;
    this.extentsValidUntilNanos = extentsValidUntilNanos;
    if (value.length() > 0) {
      lookedUp = new SoftReference<>(value.bytes());
    }
    // Without the fence of a volatile write: no other thread has the handle yet.
    SIZE.set(this, info.size());
  }

  /** A handle of a node that is being created, with the write lease {@code token}. */
  CoreFile(StoreContext store, String path, CrailNodeType type, CreateCall create, long token) {
    super(store, path, type, create, null);
    this.firstExtents = List.of();
    this.extentsValidUntilNanos = 0;
    this.size = -1;
    this.lease = new HandleLease(store.leases().unused(), path, create, token);
  }

  @Override
  public final long size() {
    long known = size;
    return known >= 0 ? known : infoUnchecked().size();
  }

  @Override
  public final long id() {
    return infoUnchecked().id();
  }

  @Override
  public final void grownTo(long newSize) {
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
      // This handle knows what it has written before the namenode knows.
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
    return openInput(readHint).opened();
  }

  /** Opens a stream to read. */
  final DirectInput openInput(long readHint) throws CrailException, InterruptedException {
    store().checkOpen();
    return openInput(store().context(), readHint, getType() == CrailNodeType.KEYVALUE);
  }

  /**
   * Opens a stream for a caller that has just looked this up. It reads the bytes of that time, even
   * when the node is gone by now. A read fails with STALE_NODE only when their location has to be
   * asked for again.
   *
   * @param context whose connections are used
   */
  public final DirectInput openLookedUp(LoopContext context)
      throws CrailException, InterruptedException {
    return openInput(context, info().size(), false);
  }

  private DirectInput openInput(LoopContext context, long readHint, boolean revalidates)
      throws CrailException, InterruptedException {
    NodeInfo known = info();
    return DirectInput.open(
        this,
        store().streams(),
        context,
        known.id(),
        firstExtents,
        extentsValidUntilNanos,
        readHint,
        revalidates);
  }

  @Override
  public final CrailOutputStream getDirectOutputStream(long writeHint) throws Exception {
    return new OpenedOutput(openOutput(writeHint));
  }

  /** Opens a stream to append. */
  final DirectOutput openOutput(long writeHint) throws CrailException, InterruptedException {
    store().checkOpen();
    NodeInfo known = info();
    lease().beginUse();
    try {
      DirectOutput output = openOutput(known, writeHint);
      return opened(output);
    } catch (CrailException | InterruptedException | RuntimeException e) {
      lease.endUse();
      throw e;
    }
  }

  /**
   * Opens a stream to write all bytes of a node whose create has just brought the lease. The lease
   * has been in use since. Waits for nothing.
   *
   * @return null when the answer came so late that the lease has to be acquired again
   */
  public final DirectOutput openCreated(LoopContext context, long writeHint)
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
   * @throws CrailException the error of the request; WRITE_LEASE_LOST when another client has
   *     written in between
   */
  public final DirectOutput openAcquired(
      LoopContext context, AcquireCall acquired, long sentNanos, long writeHint)
      throws CrailException {
    if (acquired.isFailed()) {
      lease.notAcquired(acquired.failure(), lease.token());
      lease.endUse();
      throw acquired.failure();
    }
    try {
      store().checkOpen();
      if (acquired.response().node().size() > 0) {
        throw ErrorCode.WRITE_LEASE_LOST.exception(getPath() + ": another client has written");
      }
      return begun(openWithAcquired(context, acquired, lease.token(), sentNanos, writeHint));
    } catch (CrailException | RuntimeException e) {
      lease.endUse();
      lease.giveBack();
      throw e;
    }
  }

  /** Notes the stream, and makes it hold no bytes back. */
  private DirectOutput begun(DirectOutput output) {
    output.holdNothing();
    return opened(output);
  }

  private DirectOutput opened(DirectOutput output) {
    writer = output;
    store().streams().opened(output);
    store().leases().wake();
    return output;
  }

  /**
   * Opens a stream with the creator's lease, without a request, while the lease has surely not run
   * out; else null.
   */
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
            .inUse()
            .opened(known.id(), held, create.sentNanos(), leaseNanos, create.incarnation());
    return newOutput(context, known, create.extents(), SmallValue.NONE, held, writeHint, term);
  }

  private DirectOutput openOutput(NodeInfo known, long writeHint)
      throws CrailException, InterruptedException {
    LoopContext context = store().context();
    CreateCall create = create();
    long held = lease.token();
    long sentNanos = context.nanoTime();
    if (create != null && !create.asksForLease()) {
      store().leases().unused().missed();
    }
    DirectOutput created = openWithLeaseOfCreate(context, known, writeHint);
    if (created != null) {
      return created;
    }
    long wanted = held != 0 ? held : store().leases().newToken();
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
            .inUse()
            .opened(present.id(), wanted, sentNanos, leaseNanos, acquired.incarnation());
    return newOutput(
        context, present, response.extents(), response.value(), wanted, writeHint, term);
  }

  private DirectOutput newOutput(
      LoopContext context,
      NodeInfo known,
      List<Extent> extents,
      SmallValue value,
      long token,
      long writeHint,
      WriteLeases.Held term) {
    return new DirectOutput(
        this, store().streams(), context, known, extents, value, token, writeHint, lease, term);
  }

  private AcquireCall acquire(LoopContext context, long id, long wanted)
      throws CrailException, InterruptedException {
    CreatorLeases leases = store().leases().unused();
    long returned = leases.returned();
    try {
      return tryAcquire(context, id, wanted);
    } catch (WriteLeaseHeldException e) {
      // The holder may be another handle of this store that was created and never written.
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
      lease.notAcquired(e, wanted);
      throw e;
    } catch (InterruptedException e) {
      lease.givenUp(context, call, id(), wanted);
      throw e;
    }
  }

  /** The write lease of this handle. */
  public final HandleLease lease() {
    HandleLease known = lease;
    return known != null ? known : makeLease();
  }

  private synchronized HandleLease makeLease() {
    if (lease == null) {
      lease = new HandleLease(store().leases().unused(), getPath(), null, 0);
    }
    return lease;
  }

  @Override
  public final LocatedExtent locatedByWriter(long position, long nowNanos) {
    DirectOutput output = writer;
    return output == null || position >= size ? null : output.locate(position, nowNanos);
  }

  @Override
  public final byte[] heldByWriter() {
    DirectOutput output = writer;
    return output == null ? null : output.held();
  }

  @Override
  public final byte[] knownValue(long nowNanos) {
    SoftReference<byte[]> known = lookedUp;
    if (known == null) {
      return null;
    }
    boolean isGood = extentsValidUntilNanos - nowNanos > 0;
    if (isGood && getType() != CrailNodeType.KEYVALUE) {
      return known.get();
    }
    // The first read of a key-value counts as part of the lookup. A later read asks whether the
    // value is still the same.
    boolean isFirst = LOOKED_UP.compareAndSet(this, known, null);
    return isGood && isFirst ? known.get() : null;
  }

  @Override
  public final void writerClosed() {
    writer = null;
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
