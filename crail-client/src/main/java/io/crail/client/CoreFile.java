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
import io.crail.protocol.AcquireLease;
import io.crail.protocol.Extent;
import io.crail.protocol.FindExtents;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.NodeInfo;
import io.crail.protocol.OperationCall;
import io.crail.protocol.SetSize;
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
  private volatile long size = -1;

  /** The write lease that a stream can use at once; 0 for none. */
  private volatile long token;

  private boolean hasWriter;

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
        info.type() == io.crail.protocol.NodeType.KEYVALUE
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
    this.size = info.size();
  }

  /** A handle of a node that is being created, with the write lease {@code token}. */
  CoreFile(CoreStore store, String path, CrailNodeType type, CreateCall create, long token) {
    super(store, path, type, create, null);
    this.firstExtents = List.of();
    this.extentsValidUntilNanos = 0;
    this.token = token;
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
    return token;
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
            .call(NameNodeOperations.FIND_EXTENTS, new FindExtents.Request(known.id(), 0, 1))
            .join();
    synchronized (this) {
      // What this handle is writing is known here before it is known there.
      size = hasWriter ? Math.max(size, response.size()) : response.size();
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
    NodeInfo known = info();
    return DirectInput.open(
        this, store().context(), known.id(), firstExtents, extentsValidUntilNanos, readHint);
  }

  @Override
  public final CrailOutputStream getDirectOutputStream(long writeHint) throws Exception {
    return openOutput(writeHint);
  }

  /** Opens a stream to append. */
  final DirectOutput openOutput(long writeHint) throws CrailException, InterruptedException {
    store().checkOpen();
    NodeInfo known = info();
    synchronized (this) {
      if (hasWriter) {
        throw ErrorCode.WRITE_LEASE_HELD.exception(
            getPath() + ": this handle has an output stream open");
      }
      hasWriter = true;
    }
    try {
      DirectOutput output = openOutput(known, writeHint);
      writer = output;
      store().register(output);
      return output;
    } catch (CrailException | InterruptedException | RuntimeException e) {
      synchronized (this) {
        hasWriter = false;
      }
      throw e;
    }
  }

  private DirectOutput openOutput(NodeInfo known, long writeHint)
      throws CrailException, InterruptedException {
    LoopContext context = store().context();
    CreateCall create = create();
    long held = token;
    long sentNanos = context.nanoTime();
    if (create != null && !create.asksForLease()) {
      store().creatorLeases().missed();
    } else if (held != 0 && create != null) {
      // The creator has the lease, and saves a request while it has surely not run out.
      long leaseNanos = create.context().leaseNanos(known.id());
      if (sentNanos - create.sentNanos() < leaseNanos / 2) {
        return open(known, List.of(), held, create.sentNanos(), leaseNanos, context, writeHint);
      }
    }
    long wanted = held != 0 ? held : store().newToken();
    AcquireLease.Response response = acquire(context, known.id(), wanted);
    NodeInfo present = response.node();
    info(present);
    grownTo(present.size());
    token = wanted;
    long leaseNanos = context.leaseNanos(present.id());
    return open(present, response.extents(), wanted, sentNanos, leaseNanos, context, writeHint);
  }

  private AcquireLease.Response acquire(LoopContext context, long id, long wanted)
      throws CrailException, InterruptedException {
    AcquireLease.Request request = new AcquireLease.Request(id, wanted);
    try {
      return context.namenodes().call(NameNodeOperations.ACQUIRE_LEASE, request).join();
    } catch (WriteLeaseHeldException e) {
      // The holder may be a handle of this store that was created and never written.
      OperationCall<SetSize.Request, SetSize.Response> back = store().creatorLeases().release(id);
      if (back == null) {
        throw e;
      }
      back.join();
      return context.namenodes().call(NameNodeOperations.ACQUIRE_LEASE, request).join();
    }
  }

  /** True when this is a handle of the node, and its create has been answered. */
  final boolean knows(long id) {
    NodeInfo known = knownInfo();
    return known != null && known.id() == id;
  }

  /** True when the create of this node was sent before a time. */
  final boolean createdBefore(long nanos) {
    return create().sentNanos() - nanos < 0;
  }

  /**
   * Gives the lease back that came with the create, unless a stream uses it or has used it.
   *
   * @return the call that does it; null when there is nothing to give back
   */
  final OperationCall<SetSize.Request, SetSize.Response> giveCreatorLeaseBack() {
    CreateCall create = create();
    long given;
    synchronized (this) {
      if (hasWriter || token == 0 || !create.isComplete() || create.isFailed()) {
        return null;
      }
      given = token;
      token = 0;
    }
    LoopContext context = create.context();
    SetSize.Request request =
        new SetSize.Request(create.response().node().id(), given, 0, SetSize.END);
    return context.namenodes().call(NameNodeOperations.SET_SIZE, request);
  }

  private DirectOutput open(
      NodeInfo present,
      List<Extent> last,
      long held,
      long sentNanos,
      long leaseNanos,
      LoopContext context,
      long writeHint) {
    WriteLeases.Held lease = store().leases().opened(present.id(), sentNanos, leaseNanos);
    return new DirectOutput(this, context, present, last, held, writeHint, lease);
  }

  /** Where the open output stream of this handle has put a position, or null. */
  final Located locatedByWriter(long position, long nowNanos) {
    DirectOutput output = writer;
    return output == null || position >= size ? null : output.locator().find(position, nowNanos);
  }

  /** Tells that the stream has given its lease back. */
  final void writerClosed(DirectOutput output) {
    store().unregister(output);
    writer = null;
    synchronized (this) {
      token = 0;
      hasWriter = false;
    }
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
