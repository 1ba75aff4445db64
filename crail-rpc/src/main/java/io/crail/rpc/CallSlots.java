/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * The calls in flight on a connection. Each owns a slot from when it is first sent until it ends.
 * The correlation id under which it is sent, each time, names the slot. So an answer finds its call
 * without a map, a late answer matches nothing when its slot has a new owner, and a server can tell
 * a request that is sent again from a new one. In the loop.
 */
final class CallSlots {
  /** The slot of the handshake, so that it never waits for other calls. */
  static final int HANDSHAKE = 0;

  /** The most calls besides the handshake. */
  static final int MOST = Frame.MOST_SLOTS - 2;

  private final RpcCall[] calls;

  /** The correlation id of each slot's owner, or of the one before. */
  private final long[] ids;

  private final int[] free;
  private int freeCount;
  private int inFlight;
  private long sequence;

  /** Creates slots for this many calls besides the handshake. */
  CallSlots(int most) {
    this.calls = new RpcCall[most + 1];
    this.ids = new long[most + 1];
    this.free = new int[most];
    for (int slot = most; slot > HANDSHAKE; slot--) {
      free[freeCount++] = slot;
    }
  }

  /** Calls in flight. */
  int inFlight() {
    return inFlight;
  }

  /** True when there is a slot for another call. */
  boolean isAnyFree() {
    return freeCount > 0;
  }

  /** Gives a slot to a call that has none; one must be free. */
  void take(RpcCall call) {
    take(call, free[--freeCount]);
  }

  /** Gives a call the slot of the handshake. */
  void takeForHandshake(RpcCall call) {
    take(call, HANDSHAKE);
  }

  private void take(RpcCall call, int slot) {
    call.slot = slot;
    ids[slot] = Frame.correlationId(++sequence, slot);
  }

  /** Takes its slot from a call that is not in flight, if it has one. */
  void giveBack(RpcCall call) {
    if (call.slot > HANDSHAKE) {
      free[freeCount++] = call.slot;
    }
    call.slot = RpcCall.NO_SLOT;
  }

  /** The correlation id of a call that has a slot. */
  long correlationId(RpcCall call) {
    return ids[call.slot];
  }

  /** Notes that a call was sent, in its slot. */
  void sent(RpcCall call) {
    calls[call.slot] = call;
    inFlight++;
  }

  /** Removes and returns the call in flight with a correlation id; null when there is none. */
  RpcCall remove(long correlationId) {
    int slot = Frame.slot(correlationId);
    RpcCall call = slot < calls.length ? calls[slot] : null;
    if (call == null || ids[slot] != correlationId) {
      return null;
    }
    landed(call);
    giveBack(call);
    return call;
  }

  private void landed(RpcCall call) {
    calls[call.slot] = null;
    inFlight--;
  }

  /** True when some call may have had a correlation id. */
  boolean mayHaveBeen(long correlationId) {
    return Frame.slot(correlationId) < calls.length && Frame.sequence(correlationId) <= sequence;
  }

  /** Removes and returns the calls whose deadline has passed. */
  List<RpcCall> takeExpired(long nowNanos) {
    List<RpcCall> expired = List.of();
    for (int slot = 0; slot < calls.length && inFlight > 0; slot++) {
      RpcCall call = calls[slot];
      if (call != null && nowNanos - call.deadlineNanos() >= 0) {
        if (expired.isEmpty()) {
          expired = new ArrayList<>();
        }
        expired.add(call);
        landed(call);
        giveBack(call);
      }
    }
    return expired;
  }

  /** Removes and returns all calls in flight, in the order of their ids. They keep their slots. */
  List<RpcCall> takeAll() {
    List<RpcCall> taken =
        Arrays.stream(calls)
            .filter(Objects::nonNull)
            .sorted(Comparator.comparingLong(this::correlationId))
            .toList();
    taken.forEach(this::landed);
    return taken;
  }
}
