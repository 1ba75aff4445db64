/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.lease.CreateCall;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.StoreContext;
import io.crail.client.space.LocatedExtent;
import io.crail.client.space.SpaceAhead;
import io.crail.client.stream.DirectOutput;
import io.crail.client.stream.ExtentWrite;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.node.Put;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The use of space ahead by one put. It has the space that an earlier put of the same kind has
 * brought, and the write to that space. It also asks for the space of the next put. One stage of
 * the put at a time uses this.
 */
final class PutAhead {
  private final StoreContext store;
  private final LoopContext context;
  private final String path;
  private final ByteBuffer root;
  private final Put.Draft request;
  private final SpaceAhead.Kind kind;
  private final SpaceAhead.Plan plan;

  private PutRoute route = PutRoute.AFTER_CREATE;

  /** The space that the create names; null if it names none. */
  private SpaceAhead.Grant named;

  /** The write to that space, sent beside the create; null if there is none. */
  private ExtentWrite beside;

  /** Counts the issue of that write and the answer to the create; null without such a write. */
  private AtomicInteger awaited;

  /** Why that write could not be issued, which is a bug; else null. */
  private Throwable bug;

  /** The memory to which the bytes were copied before the create; else null. */
  private StorageEndpoint copiedTo;

  /** Whether that write goes, or went, to what has become the node's space. */
  private boolean written;

  /** Why that space is of no use, so that the node needs other space instead; else null. */
  private CrailException outOfReach;

  /** An abandoned write that may still read the memory; else null. */
  private ExtentWrite straggler;

  private PutAhead(
      StoreContext store,
      LoopContext context,
      String path,
      ByteBuffer root,
      Put.Draft request,
      SpaceAhead.Kind kind) {
    this.store = store;
    this.context = context;
    this.path = path;
    this.root = root;
    this.request = request;
    this.kind = kind;
    this.plan =
        store
            .spaceAhead()
            .plan(
                kind,
                context.nanoTime(),
                context.leaseNanosAt(kind.namenode()),
                store.leases().inUse().incarnation(kind.namenode()));
  }

  /** The space ahead of a put; null where it is of no use. */
  static PutAhead of(
      StoreContext store,
      LoopContext context,
      int namenode,
      String path,
      ByteBuffer root,
      Put.Draft request) {
    int block = context.blockBytesAt(namenode);
    if (request.length() > block) {
      return null;
    }
    SpaceAhead.Kind kind =
        new SpaceAhead.Kind(
            namenode,
            path.substring(0, path.lastIndexOf('/')),
            request.storageClass(),
            request.strict(),
            request.host(),
            Extent.lengthFor(request.length(), block));
    return new PutAhead(store, context, path, root, request, kind);
  }

  /**
   * Before the create: copies the bytes to the space, or finds out that they can go beside the
   * create.
   */
  void prepare() {
    SpaceAhead.Grant grant = plan.grant();
    try {
      if (grant != null) {
        use(grant);
      }
    } catch (RuntimeException | Error e) {
      tell(null);
      throw e;
    }
  }

  private void use(SpaceAhead.Grant grant) {
    LocatedExtent target = new LocatedExtent(grant.extent(), grant.validUntilNanos());
    StorageEndpoint endpoint = target.endpoint(context.endpoints());
    if (endpoint == null) {
      // The next value may have it.
      store.spaceAhead().notYet(kind, grant);
      context.endpoints().prepare(grant.extent().datanode());
      return;
    }
    ExtentWrite write =
        new ExtentWrite(context, store.streams().statistics(), path, target, endpoint);
    if (!endpoint.isLocal()) {
      named = grant;
      beside = write;
      awaited = new AtomicInteger(2);
      route = PutRoute.BESIDE_CREATE;
      return;
    }
    issue(write);
    if (write.isComplete() && !write.isFailed()) {
      named = grant;
      write.count();
      copiedTo = endpoint;
      route = PutRoute.COPIED_AHEAD;
    } else {
      // The memory could not be mapped after all.
      abandon(write, grant);
    }
  }

  /** Why the bytes that were copied before the create are lost; null while their datanode lives. */
  CrailException copyLost() {
    return copiedTo.hasEnded()
        ? ErrorCode.UNAVAILABLE.exception(
            path + ": the datanode of this host that has it has ended")
        : null;
  }

  /** What the create does for the bytes. */
  PutRoute route() {
    return route;
  }

  /** Called after the issue of the write beside the create, and after the answer to the create. */
  boolean isLaterOfBoth() {
    return awaited.decrementAndGet() == 0;
  }

  private void issue(ExtentWrite write) {
    int length = request.length();
    write.begin(
        request.memory(), root, request.from(), length, store.streams().timeoutNanos(length));
  }

  /** Continues without a write. The put does not end before that write stops reading the memory. */
  private void abandon(ExtentWrite write, SpaceAhead.Grant grant) {
    straggler = write;
    write.whenComplete(write::count);
    store.spaceAhead().unused(grant);
  }

  /** What the create says about space ahead. */
  Put.Ahead asked() {
    int next = plan.asks() ? request.length() : 0;
    return named == null
        ? new Put.Ahead(0, 0, false, next)
        : new Put.Ahead(named.id(), named.token(), route == PutRoute.COPIED_AHEAD, next);
  }

  /**
   * The create has ended.
   *
   * @param given the space of the next value; empty where none came
   */
  void answered(CreateCall create, List<Put.Given> given) {
    tell(given.isEmpty() ? null : grant(create, given.get(0)));
  }

  private SpaceAhead.Grant grant(CreateCall create, Put.Given given) {
    return new SpaceAhead.Grant(
        given.grant(),
        request.token(),
        given.extent(),
        create.sentNanos() + context.leaseNanosAt(kind.namenode()),
        create.incarnation());
  }

  /** Gives the next put its space, or tells it that none has come. */
  private void tell(SpaceAhead.Grant given) {
    if (plan.asks()) {
      store.spaceAhead().answered(kind, given);
      if (given != null) {
        store.leases().wake();
      }
    }
  }

  /**
   * Right after the create, unless that has been refused: sends the bytes to the space it names.
   */
  void issueBeside(boolean isRefused) {
    if (isRefused) {
      beside = null;
      store.spaceAhead().unused(named);
      return;
    }
    try {
      issue(beside);
    } catch (RuntimeException | Error e) {
      // The create was sent already: the caller learns of the bug at the end of the put.
      bug = e;
      store.spaceAhead().unused(named);
    }
  }

  /** Why the write beside the create could not be issued; else null. */
  Throwable bug() {
    return bug;
  }

  /** The write beside the create; null if there is none. */
  ExtentWrite beside() {
    return beside;
  }

  /** Abandons the write beside the create. */
  void abandonBeside() {
    abandon(beside, named);
  }

  /**
   * Compares the space of the node with the space that is written beside the create.
   *
   * @param extents the first extents of the node; empty when the node is gone already, with its
   *     space
   * @return false when that write has to be abandoned, since its space belongs to another node or
   *     to none
   */
  boolean meets(List<Extent> extents) {
    written = isNamed(extents);
    return extents.isEmpty() || extents.get(0).beginsAt(named.extent());
  }

  /** Checks whether the node still has the space: it loses the space when it loses its lease. */
  void meetsAgain(List<Extent> extents) {
    if (written && !isNamed(extents)) {
      notWritten();
    }
  }

  private boolean isNamed(List<Extent> extents) {
    return !extents.isEmpty() && named.extent().equals(extents.get(0));
  }

  /**
   * The write beside the create has ended.
   *
   * @return false when bytes of it may still arrive where they must not
   */
  boolean besideEnded() {
    beside.endLease();
    boolean hasOtherSpace = written && beside.mayArrive() && beside.isOutOfReach();
    if (hasOtherSpace) {
      outOfReach = beside.failure();
    }
    if (!written || beside.isFailed()) {
      notWritten();
    }
    return hasOtherSpace || !beside.mayArrive();
  }

  /** The bytes have to be written after the create, whatever was written beside it. */
  private void notWritten() {
    written = false;
    beside.count();
  }

  /** Whether all bytes lie, or will lie, in the node's space without a write of its stream. */
  boolean isWritten() {
    return written;
  }

  /** Tells the stream of the node what was written beside the create. */
  void hand(DirectOutput output) throws CrailException {
    try {
      output.begunBy(beside, request.length());
    } catch (CrailException e) {
      beside.count();
      throw e;
    }
  }

  /**
   * Before the stream of the node writes: asks for other space in place of space that is of no use.
   */
  void replaceIn(DirectOutput output) {
    if (outOfReach != null) {
      output.giveUp(named.extent(), outOfReach);
    }
  }

  /** Runs a callback as soon as no abandoned write reads the memory. */
  void whenQuiet(Runnable then) {
    if (straggler == null) {
      then.run();
    } else {
      straggler.whenComplete(then);
    }
  }
}
