/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.client.loop.LoopContext;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.ReplaceExtent;
import io.crail.protocol.part.Extent;
import io.crail.rpc.loop.LoopTask;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Space for a writer. A location is good as long as the write lease, which the stream watches.
 * Space is added at the end of the file, so one request is under way at a time. When a datanode
 * cannot be reached, its space is replaced first.
 *
 * <p>A hint is trusted as far as the writer has kept to it. First the writer gets a block. Then,
 * whenever half of the space ahead is used up, the space that it has in all is doubled. So writers
 * that announce much and write little leave space for other writers, and a writer that continues
 * soon has enough ahead.
 *
 * <p>A writer that announces nothing, or continues after its hint, is assumed to write half as much
 * again as it has written. From two blocks on, that much is requested ahead. So such a writer never
 * has more space ahead than it has written, and a small file has none.
 */
public final class WriteLocator extends Locator {
  private static final long NEVER = Long.MAX_VALUE / 2;

  /** A writer that copies at the speed of memory needs a block every few tens of microseconds. */
  private static final int MAX_BLOCKS_AHEAD = 16;

  /**
   * A request costs such a writer the time of some hundred KiB. So a writer that has announced its
   * bytes may have more blocks ahead, when blocks are not large.
   */
  private static final long MAX_ANNOUNCED = 64L << 20;

  private final LoopContext context;
  private final long id;
  private final long token;
  private final String path;
  private final long start;
  private final long hint;
  private final long firstEnd;
  private volatile boolean asksAhead;

  // Changed in the loop.
  private volatile long allocatedEnd;

  // In the loop.
  private List<LocationWaiter> waiters = new ArrayList<>();

  /** The end of all space that was ever known. */
  private long givenEnd;

  private boolean pending;
  private final SpacePause pause;

  /**
   * The extents that were given up, in that order. The first one is being replaced, or is the next
   * to be replaced.
   */
  private final ArrayDeque<Replacement> replacements = new ArrayDeque<>();

  /**
   * Creates a locator.
   *
   * @param start where the writer begins
   * @param first the extents that are known, ascending
   * @param hint position up to which will be written, 0 if unknown
   */
  public WriteLocator(
      LoopContext context,
      long id,
      long token,
      String path,
      long start,
      List<Extent> first,
      long hint) {
    super(first, context.nanoTime() + NEVER);
    this.context = context;
    this.id = id;
    this.token = token;
    this.path = path;
    this.start = start;
    this.hint = hint;
    this.firstEnd = first.isEmpty() ? start : first.get(first.size() - 1).fileEnd();
    this.allocatedEnd = firstEnd;
    this.givenEnd = first.isEmpty() ? 0 : firstEnd;
    this.pause = new SpacePause(context, this::pauseEnded, this::closing);
    LocatedExtent last = find(start - 1, context.nanoTime());
    if (last != null) {
      // Earlier writers have written to it.
      last.acknowledge();
    }
  }

  @Override
  public void locate(LocationWaiter operation, long position) {
    waiters.add(operation);
    askNext();
  }

  @Override
  public boolean canReplace() {
    return true;
  }

  @Override
  public void replace(LocatedExtent givenUp, LocationWaiter operation) {
    Replacement replacement = replacementOf(givenUp.extent());
    if (replacement == null) {
      forget(givenUp.extent());
      replacement = new Replacement(givenUp);
      replacements.add(replacement);
    }
    replacement.waiters.add(operation);
    askNext();
  }

  private Replacement replacementOf(Extent extent) {
    for (Replacement replacement : replacements) {
      if (replacement.givenUp.extent().equals(extent)) {
        return replacement;
      }
    }
    return null;
  }

  /** Asks for what is needed most, unless a request is still unanswered. */
  private void askNext() {
    if (!pending && !replacements.isEmpty()) {
      pending = true;
      replacements.peek().begin();
    } else if (!pending && !pause.isUnderWay()) {
      waiters.removeIf(LocationWaiter::isIssuingEnded);
      if (!waiters.isEmpty()) {
        ask();
      }
    }
  }

  /** There is no space yet: operations that have patience wait until it is asked for again. */
  private void awaitSpace(CrailException answer) {
    CrailException shortage = ErrorCode.NO_SPACE.exception(answer.detail());
    for (LocationWaiter waiter : takeWaiters()) {
      if (waiter.awaitsSpace(shortage)) {
        waiters.add(waiter);
      }
    }
    if (waiters.isEmpty()) {
      pause.over(false);
    } else {
      pause.begin(answer.detail());
    }
  }

  private void pauseEnded() {
    waiters.removeIf(LocationWaiter::isIssuingEnded);
    if (waiters.isEmpty()) {
      pause.over(false);
    }
    askNext();
  }

  private void closing() {
    CrailException closed = ErrorCode.CLOSED.exception("store");
    takeWaiters().forEach(waiter -> waiter.locationFailed(closed));
  }

  /** Adds the extents of an answer. Extents that were given up, or are known, may be among them. */
  private void added(List<Extent> extents, boolean replaced) {
    List<LocatedExtent> more = new ArrayList<>(extents.size());
    for (Extent extent : extents) {
      LocatedExtent known = find(extent.fileOffset(), context.nanoTime());
      if (known != null && known.extent().equals(extent)) {
        more.add(known);
      } else if (replacementOf(extent) == null) {
        LocatedExtent located = new LocatedExtent(extent, context.nanoTime() + NEVER);
        if (!replaced && extent.fileOffset() < givenEnd) {
          // The extent was known once, and bytes in it may have been acknowledged.
          located.acknowledge();
        }
        more.add(located);
      }
    }
    add(more);
    for (Extent extent : extents) {
      givenEnd = Math.max(givenEnd, extent.fileEnd());
    }
    allocatedEnd = Math.max(allocatedEnd, givenEnd);
  }

  private List<LocationWaiter> takeWaiters() {
    List<LocationWaiter> waiting = waiters;
    waiters = new ArrayList<>();
    return waiting;
  }

  @Override
  public void issuedUpTo(long position, long nowNanos) {
    if (!asksAhead && runsShort(position)) {
      asksAhead = true;
      context.loop().submit((LoopTask) () -> askAhead(position));
    }
  }

  /** True when half of one request's space is used up, so that the rest covers the wait. */
  private boolean runsShort(long position) {
    long left = allocatedEnd - position;
    if (position < hint) {
      return left <= 0 || (allocatedEnd < hint && left <= announcedAhead() / 2);
    }
    long ahead = expectedAhead(position);
    return ahead > 0 && left <= ahead / 2;
  }

  /** How many of the announced bytes to ask for at a time. */
  private long announcedAhead() {
    long block = context.blockBytes(id);
    long most =
        Math.min(Extend.MAX_EXTENTS * block, Math.max(MAX_BLOCKS_AHEAD * block, MAX_ANNOUNCED));
    return Math.min(Math.max(allocatedEnd - firstEnd, block), most);
  }

  /** How many bytes to ask for that were not announced; 0 when too few are written to judge by. */
  private long expectedAhead(long position) {
    if (position == hint) {
      // The writer has written exactly what it announced, so it is done.
      return 0;
    }
    long block = context.blockBytes(id);
    long expected = (position - start) / 2;
    return expected < block ? 0 : Math.min(expected, MAX_BLOCKS_AHEAD * block);
  }

  private void askAhead(long position) {
    if (pending || !runsShort(position)) {
      asksAhead = false;
    } else {
      // Operations before that position need the space in between.
      ask(allocatedEnd, position + 1, position, true);
    }
  }

  private void ask() {
    long position = Long.MAX_VALUE;
    long end = 0;
    for (LocationWaiter waiter : waiters) {
      position = Math.min(position, waiter.next());
      end = Math.max(end, waiter.end());
    }
    // An earlier operation may wait for its datanode instead of its space, and is then not among
    // the waiters. Space grows at its end only, so the space in between is asked for as well.
    ask(Math.min(position, allocatedEnd), end, position, false);
  }

  /**
   * Asks for space.
   *
   * @param issued how far the writer has issued, from which its further writes are estimated
   */
  private void ask(long position, long neededEnd, long issued, boolean isAhead) {
    long ahead =
        issued < hint ? Math.min(hint - position, announcedAhead()) : expectedAhead(issued);
    long wanted = Math.max(neededEnd - position, ahead);
    Extend.Request body = new Extend.Request(id, token, position, wanted, -1);
    pending = true;
    Request request = new Request(position, isAhead);
    context.prepare(request, body);
    request.submit();
  }

  private final class Request extends OperationCall<Extend.Request, Extend.Response> {
    private final long position;
    private final boolean isAhead;

    Request(long position, boolean isAhead) {
      super(NameNodeOperations.EXTEND);
      this.position = position;
      this.isAhead = isAhead;
    }

    @Override
    protected void completed() {
      pending = false;
      CrailException failure = failure();
      if (failure == null) {
        asksAhead = false;
      }
      // After a failure nothing is asked for ahead any more: otherwise every write would ask a full
      // store.
      if (failure != null && isAhead) {
        // No write fails because of a request in advance.
        askNext();
        return;
      }
      if (failure != null && failure.code() == ErrorCode.SPACE_TO_COME) {
        awaitSpace(failure);
        askNext();
        return;
      }
      pause.over(failure == null);
      boolean answered = failure == null && answers();
      if (failure == null) {
        added(response().extents(), false);
      }
      for (LocationWaiter waiter : takeWaiters()) {
        if (failure != null) {
          waiter.locationFailed(failure);
        } else if (waiter.next() >= position && !answered) {
          waiter.locationFailed(
              ErrorCode.PROTOCOL.exception("no space came for " + path + " at " + position));
        } else {
          waiter.advance();
        }
      }
      askNext();
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

  /** Asks for other space in place of an extent that was given up. */
  private final class Replacement extends OperationCall<ReplaceExtent.Request, Extend.Response> {
    private final LocatedExtent givenUp;
    private final List<LocationWaiter> waiters = new ArrayList<>(2);

    Replacement(LocatedExtent givenUp) {
      super(NameNodeOperations.REPLACE_EXTENT);
      this.givenUp = givenUp;
    }

    void begin() {
      Extent extent = givenUp.extent();
      ReplaceExtent.Request body =
          new ReplaceExtent.Request(
              id, token, extent.fileOffset(), extent.length(), extent.place(), reason());
      context.prepare(this, body);
      submit();
    }

    @Override
    protected void completed() {
      pending = false;
      replacements.remove(this);
      CrailException failure = failure();
      if (failure == null) {
        added(response().extents(), true);
      } else if (isWorthWaiting(failure)) {
        failure = null;
        LocatedExtent same = new LocatedExtent(givenUp.extent(), context.nanoTime() + NEVER);
        same.acknowledge();
        add(List.of(same));
      }
      for (LocationWaiter waiter : waiters) {
        if (failure == null) {
          waiter.advance();
        } else {
          waiter.notReplaced(cause(failure));
        }
      }
      // The waiters may have waited for the same bytes.
      takeWaiters().forEach(LocationWaiter::advance);
      askNext();
    }

    private int reason() {
      switch (givenUp.whyGivenUp().code()) {
        case SPACE_PINNED:
          return ReplaceExtent.PINNED;
        case TIMED_OUT:
          return ReplaceExtent.SILENT;
        case NO_SPACE:
          return ReplaceExtent.FULL;
        default:
          return ReplaceExtent.UNREACHABLE;
      }
    }

    /**
     * No other datanode has space, and this one is only slow, or is away and keeps its bytes: it
     * gets all the time there is.
     */
    private boolean isWorthWaiting(CrailException failure) {
      return isShortage(failure)
          && (reason() == ReplaceExtent.SILENT
              || (reason() == ReplaceExtent.UNREACHABLE
                  && context.endpoints().keeps(givenUp.extent().datanode())));
    }

    /** The error of the write says more than the lack of other space. */
    private CrailException cause(CrailException failure) {
      return isShortage(failure) || failure.code() == ErrorCode.SPACE_PINNED
          ? givenUp.whyGivenUp()
          : failure;
    }

    private static boolean isShortage(CrailException failure) {
      return failure.code() == ErrorCode.NO_SPACE || failure.code() == ErrorCode.SPACE_TO_COME;
    }
  }
}
