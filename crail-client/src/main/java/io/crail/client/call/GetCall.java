/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailResult;
import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.CoreKeyValue;
import io.crail.client.node.CoreNode;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectInput;
import io.crail.client.stream.StreamOperation;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.LeanLookup;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.Sweepable;
import java.nio.ByteBuffer;

/**
 * Gets a whole value, as it is when it is looked up. A small value comes with the lookup, straight
 * into the caller's memory. The bytes of a larger value are read from the location that the lookup
 * returned. After that, there is no check whether the value was replaced: the get began before the
 * replacement. The get looks up the new value only when the bytes of the old one are gone, or when
 * the namenode has to be asked where the rest of them is. While the first value of a key is being
 * put, the get waits. An old value is found until the new one is whole.
 */
public final class GetCall extends Completion implements Awaitable<CrailResult>, CrailResult {
  /**
   * How often a value may be replaced while it is being read. A client that puts on the datanode's
   * host may be much faster than one that gets from elsewhere. The deadline ends the get as well.
   */
  private static final int MAX_LOOKUPS = 1000;

  /** Lookups of a value that is being put, one after the other, before a pause. */
  private static final int LOOKS_AT_ONCE = 8;

  private final StoreContext store;
  private final LoopContext context;
  private final Utf8 path;
  private final ByteBuffer memory;
  private final ByteBuffer root;
  private final int offset;
  private final int room;
  private final long deadlineNanos;

  /** Null until bytes could not be read; in the loop. */
  private Loss lost;

  private long length;

  /** How often the value was being put; in the loop. */
  private int looksAtPut;

  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param memory where the value goes, from {@code offset} on, at most {@code room} bytes
   * @param root what the memory was cut from
   */
  public GetCall(
      StoreContext store,
      LoopContext context,
      Utf8 path,
      ByteBuffer memory,
      ByteBuffer root,
      int offset,
      int room) {
    this.store = store;
    this.context = context;
    this.path = path;
    this.memory = memory;
    this.root = root;
    this.offset = offset;
    this.room = room;
    this.deadlineNanos =
        context.nanoTime() + context.rpcTimeoutNanos() + store.streams().timeoutNanos(room);
  }

  /** Sends the lookup. */
  public void begin() {
    new Find().submit();
  }

  /** Why the bytes of a node could not be read, and how often that has happened. */
  private record Loss(long id, CrailException cause, int times) {}

  private final class Find extends LeanLookup {
    private Lookup.Response response;

    /** Why the value that was found cannot be given to the caller. */
    private CrailException refusal;

    Find() {
      Utf8 routed = context.namenodes().routed(path);
      int namenode = NodePath.namenodeOf(routed, context.namenodes().count());
      long sentNanos = context.nanoTime();
      // The caller gets the memory back at the end of the get, whatever is in flight.
      long mostNanos = Math.min(context.rpcTimeoutNanos(), deadlineNanos - sentNanos);
      prepare(context.namenodes().peer(namenode), routed, sentNanos + mostNanos);
    }

    @Override
    protected void decode(ByteBuffer in, int at, int bodyLength) throws CrailException {
      Lookup.Response.LAYOUT.check(in, at, bodyLength);
      int small = in.getInt(at + Lookup.Response.VALUE_LENGTH);
      if (small == 0) {
        response = Lookup.Response.CODEC.decode(in, at, bodyLength);
      } else if (small > room) {
        refusal = tooLong(small);
      } else if (context.nanoTime() - deadlineNanos >= 0) {
        // The loop was not driven for a while, and the caller may have given up.
        refusal = ErrorCode.TIMED_OUT.exception("get " + path);
      } else {
        memory.put(offset, in, at + bodyLength - small, small);
        length = small;
      }
    }

    @Override
    protected void completed() {
      CrailException cause = isFailed() ? failure() : refusal;
      if (cause != null) {
        GetCall.this.fail(cause);
      } else if (lost != null && response != null && response.node().id() == lost.id) {
        // The node is still there, so its bytes were not lost by a replacement.
        GetCall.this.fail(lost.cause);
      } else if (response != null && response.node().isBeingPut()) {
        lookAgain();
      } else if (response != null && response.node().isAbandoned()) {
        GetCall.this.fail(ErrorCode.NODE_NOT_FOUND, path.toString());
      } else if (response == null || response.node().size() == 0) {
        requireKeyValue();
      } else {
        // Near the deadline of the get this is too early, and then the location ends too early.
        read(response, deadlineNanos() - context.rpcTimeoutNanos());
      }
    }

    /** Ends the get of a value that has nothing more to read. */
    private void requireKeyValue() {
      if (response != null && response.node().type() != NodeType.KEYVALUE) {
        GetCall.this.fail(wrongType(response.node().type()));
      } else {
        GetCall.this.succeed();
      }
    }
  }

  /**
   * Looks the value up again: it is not there yet, but will be soon, unless its writer is gone. In
   * the loop.
   */
  private void lookAgain() {
    looksAtPut++;
    if (context.nanoTime() - deadlineNanos >= 0) {
      fail(ErrorCode.TIMED_OUT, path + " is being put");
    } else if (looksAtPut % LOOKS_AT_ONCE != 0) {
      begin();
    } else {
      new Pause().begin();
    }
  }

  /** Waits a while before the namenode is asked again. */
  private final class Pause implements Sweepable {
    void begin() {
      context.loop().operationBegun();
      context.loop().register(this);
    }

    private void end() {
      context.loop().unregister(this);
      context.loop().operationEnded();
    }

    @Override
    public void sweep(long nowNanos) {
      end();
      GetCall.this.begin();
    }

    @Override
    public void loopClosing() {
      end();
      fail(ErrorCode.CLOSED, "store");
    }
  }

  private CrailException tooLong(long valueLength) {
    return ErrorCode.INVALID_ARGUMENT.exception(
        path + " has " + valueLength + " bytes, the buffer has room for " + room);
  }

  private CrailException wrongType(NodeType type) {
    return ErrorCode.WRONG_TYPE.exception(path + " is a " + type + ", not a key-value");
  }

  /** Reads the bytes from their location. In the loop. */
  private void read(Lookup.Response found, long sentNanos) {
    long size = found.node().size();
    if (found.node().type() != NodeType.KEYVALUE || size > room) {
      fail(
          found.node().type() == NodeType.KEYVALUE
              ? tooLong(size)
              : wrongType(found.node().type()));
      return;
    }
    CoreKeyValue value =
        new CoreKeyValue(
            store,
            path.toString(),
            found.node(),
            found.extents(),
            SmallValue.NONE,
            sentNanos + context.leaseNanos(found.node().id()));
    try {
      DirectInput input = value.openLookedUp(context);
      long mostNanos = deadlineNanos - context.nanoTime();
      StreamOperation read = input.readAt(0, memory, root, offset, (int) size, mostNanos);
      read.whenComplete(
          () -> {
            input.release();
            readEnded(read, found.node().id());
          });
    } catch (CrailException e) {
      fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      fail(ErrorCode.CLOSED, "interrupted");
    } catch (RuntimeException e) {
      CrailException bug = ErrorCode.INTERNAL.exception(toString());
      bug.initCause(e);
      fail(bug);
    }
  }

  private void readEnded(StreamOperation read, long id) {
    CrailException failure = read.failure();
    if (failure == null) {
      length = read.getLen();
      succeed();
      return;
    }
    int times = 1 + (lost == null ? 0 : lost.times);
    if (mayBeReplaced(failure.code())
        && times < MAX_LOOKUPS
        && deadlineNanos - context.nanoTime() > 0) {
      lost = new Loss(id, failure, times);
      begin();
    } else {
      fail(failure);
    }
  }

  /** Whether a read can fail with this code because the value was replaced. */
  private static boolean mayBeReplaced(ErrorCode code) {
    return code == ErrorCode.STALE_NODE
        // The datanode may also have left, once it held nothing else.
        || code == ErrorCode.UNAVAILABLE
        || code == ErrorCode.UNKNOWN_DATANODE
        || code == ErrorCode.DATA_LOST;
  }

  @Override
  public long getLen() {
    return length;
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public long deadlineNanos() {
    return deadlineNanos;
  }

  @Override
  public CrailResult result() {
    return this;
  }

  @Override
  public boolean isAbsence(CrailException failure) {
    return CoreNode.isAbsence(failure.code());
  }

  @Override
  public String toString() {
    return "get " + path;
  }
}
