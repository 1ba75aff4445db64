/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.part.Extent;
import io.crail.rpc.loop.LoopTask;
import java.util.ArrayList;
import java.util.List;

/**
 * Locations for a reader. Each is good for the time of a lease, counted from the request for it.
 */
public final class ReadLocator extends Locator {
  /** The file that is read. */
  public interface Source {
    /** Its path, for messages. */
    String getPath();

    /** Bytes that can be read. */
    long size();

    /** Where the open output stream of the same handle has written a position, or null. */
    LocatedExtent locatedByWriter(long position, long nowNanos);
  }

  /** How far after its position an answer is expected to reach. */
  private static final long EXPECTED_REACH = 4L << 20;

  private final Source file;
  private final LoopContext context;
  private final long id;
  private volatile long hint;
  private volatile boolean asksAhead;

  /** Up to where the latest locations reach, and how many bytes they cover. Changed in the loop. */
  private volatile long knownEnd;

  private volatile long knownBytes;

  private final boolean keepsValue;

  /** The bytes of a small value that the latest answer has brought; null for none. */
  private volatile Value value;

  /** Requests without an answer. In the loop. */
  private final List<Request> pending = new ArrayList<>();

  /**
   * Creates a locator.
   *
   * @param id the node
   * @param first the extents that are known, ascending
   * @param hint position up to which locations are asked for ahead
   * @param keepsValue whether the bytes of a small value are good as long as a location
   */
  public ReadLocator(
      Source file,
      LoopContext context,
      long id,
      List<Extent> first,
      long validUntilNanos,
      long hint,
      boolean keepsValue) {
    super(first, validUntilNanos);
    this.keepsValue = keepsValue;
    this.file = file;
    this.context = context;
    this.id = id;
    this.hint = hint;
    located(first);
  }

  private record Value(byte[] bytes, long validUntilNanos) {}

  /** All bytes of a small value that a reader may still use; else null. */
  public byte[] value(long nowNanos) {
    Value known = value;
    if (known != null && known.validUntilNanos - nowNanos <= 0) {
      // A stream that stays open keeps no bytes that it cannot use.
      value = null;
      return null;
    }
    return known == null ? null : known.bytes;
  }

  private void located(List<Extent> extents) {
    if (!extents.isEmpty()) {
      knownBytes = extents.get(extents.size() - 1).fileEnd() - extents.get(0).fileOffset();
      knownEnd = extents.get(extents.size() - 1).fileEnd();
    }
  }

  /** Sets the position up to which locations are asked for ahead. */
  public void hint(long newHint) {
    this.hint = newHint;
  }

  @Override
  public void locate(LocationWaiter operation, long position) {
    LocatedExtent own = file.locatedByWriter(position, context.nanoTime());
    if (own != null) {
      // Written through this handle and not yet visible to other clients: the namenode would not
      // return the location. What will be written after that may come to lie elsewhere, once the
      // writer is gone and the extent was moved.
      add(List.of(own.extent().before(file.size())), own.validUntilNanos());
      operation.advance();
      return;
    }
    for (Request request : pending) {
      if (position >= request.position && position < request.position + EXPECTED_REACH) {
        request.waiters.add(operation);
        return;
      }
    }
    ask(position, operation);
  }

  @Override
  public void issuedUpTo(long position, long nowNanos) {
    if (position < hint && !asksAhead) {
      long unknown = find(position, nowNanos) == null ? position : knownEnd;
      if (unknown < Math.min(hint, file.size()) && runsShort(position, unknown)) {
        asksAhead = true;
        context.loop().submit((LoopTask) () -> askAhead(unknown));
      }
    }
  }

  /** True when half of the latest locations is used up, so that the rest covers the wait. */
  private boolean runsShort(long position, long unknown) {
    return unknown >= position && unknown - position <= knownBytes / 2;
  }

  private void askAhead(long position) {
    boolean asked = find(position, context.nanoTime()) != null;
    for (Request request : pending) {
      asked |= position >= request.position && position < request.position + EXPECTED_REACH;
    }
    if (asked) {
      asksAhead = false;
    } else {
      ask(position, null);
    }
  }

  /**
   * Asks for the location of a position; {@code operation} is null when no operation waits for it
   * yet.
   */
  private void ask(long position, LocationWaiter operation) {
    FindExtents.Request body = new FindExtents.Request(id, position, FindExtents.MAX_EXTENTS);
    Request request = new Request(position, operation == null);
    if (operation != null) {
      request.waiters.add(operation);
    }
    pending.add(request);
    context.prepare(request, body);
    request.submit();
  }

  private final class Request extends OperationCall<FindExtents.Request, FindExtents.Response> {
    private final long position;
    private final boolean isAhead;
    private final long sentNanos = context.nanoTime();
    private final List<LocationWaiter> waiters = new ArrayList<>(2);

    Request(long position, boolean isAhead) {
      super(NameNodeOperations.FIND_EXTENTS);
      this.position = position;
      this.isAhead = isAhead;
    }

    @Override
    protected void completed() {
      pending.remove(this);
      CrailException failure = failure();
      if (failure == null) {
        if (response().value().length() > 0) {
          // A small value has no location to ask for ahead.
          hint = 0;
          if (keepsValue) {
            value = new Value(response().value().bytes(), sentNanos + context.leaseNanos(id));
          }
        }
        add(response().extents(), sentNanos + context.leaseNanos(id));
        located(response().extents());
      }
      if (isAhead && (failure != null || response().extents().isEmpty())) {
        // Otherwise every read would ask again.
        hint = 0;
      }
      if (isAhead) {
        // Only now, since the reader may be checking what to ask for.
        asksAhead = false;
      }
      for (LocationWaiter waiter : waiters) {
        if (waiter.isIssuingEnded()) {
          continue;
        }
        if (failure != null && isAhead) {
          // An operation does not fail because a request ahead has failed.
          ask(waiter.next(), waiter);
        } else if (failure != null) {
          waiter.locationFailed(failure);
        } else if (response().value().length() > 0) {
          waiter.supply(response().value().bytes());
        } else if (waiter.next() == position && !answers()) {
          waiter.locationFailed(
              ErrorCode.OUT_OF_RANGE.exception(file.getPath() + " has no bytes at " + position));
        } else {
          waiter.advance();
        }
      }
    }

    private boolean answers() {
      for (Extent extent : response().extents()) {
        if (position >= extent.fileOffset() && position < extent.fileEnd()) {
          return true;
        }
      }
      return false;
    }
  }
}
