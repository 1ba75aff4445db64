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
import io.crail.protocol.node.Put;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The part that space ahead has in a put: what an earlier put of the same kind has brought, and the
 * write to it; and what is asked for the next. One stage of the put at a time uses this.
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

  /** The write to that beside the create; null if there is none. */
  private ExtentWrite beside;

  /** Its issue, and the answer to the create; null without such a write. */
  private AtomicInteger awaited;

  /** Why that write could not be issued, which is a bug; else null. */
  private Throwable bug;

  /** Whether that write has gone, or goes, to what has become the node's space. */
  private boolean written;

  /** Why that space is of no use, so that the node needs other space in its place; else null. */
  private CrailException outOfReach;

  /** A write of which nothing comes, but that may still read the memory; else null. */
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

  /** That of a put; null where space ahead is of no use. */
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

  /** Before the create: copies the bytes to the space, or finds out that they can go beside it. */
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
    ExtentWrite write = new ExtentWrite(context, path, target, endpoint);
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
      count(write);
      route = PutRoute.COPIED_AHEAD;
    } else {
      // It could not be mapped after all.
      abandon(write, grant);
    }
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

  private void count(ExtentWrite write) {
    write.countIn(store.streams().statistics());
  }

  /** Goes on without a write; but not to the end, as long as it reads the memory. */
  private void abandon(ExtentWrite write, SpaceAhead.Grant grant) {
    straggler = write;
    write.whenComplete(() -> count(write));
    store.spaceAhead().unused(grant);
  }

  /** What the create says of space ahead. */
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

  /** Whoever puts the next value has its space, or knows that none has come. */
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
      // The create is under way: whoever has called learns of it at the end.
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

  /** Nothing comes of the write beside the create. */
  void abandonBeside() {
    abandon(beside, named);
  }

  /**
   * Compares the space of the node with that which is written to beside the create.
   *
   * @param extents the first of the node; without any it has gone already, and its space with it
   * @return false when that write is to be abandoned, for it is of another node or of none
   */
  boolean meets(List<Extent> extents) {
    written = isNamed(extents);
    return extents.isEmpty() || extents.get(0).beginsAt(named.extent());
  }

  /** Looks whether the node has the space still, which it has lost with its lease if it has not. */
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
    count(beside);
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
      count(beside);
      throw e;
    }
  }

  /** Before the stream of the node writes: has other space in the place of what is of no use. */
  void replaceIn(DirectOutput output) {
    if (outOfReach != null) {
      output.giveUp(named.extent(), outOfReach);
    }
  }

  /** Calls somebody as soon as no write reads the memory of which nothing comes. */
  void whenQuiet(Runnable then) {
    if (straggler == null) {
      then.run();
    } else {
      straggler.whenComplete(then);
    }
  }
}
