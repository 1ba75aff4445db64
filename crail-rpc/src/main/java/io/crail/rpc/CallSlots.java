/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The calls in flight on a connection. Each owns a slot; its correlation id is {@code sequence <<
 * 16 | slot}, so an answer finds its call without a map, and a late answer matches nothing when its
 * slot has a new owner. In the loop.
 */
final class CallSlots {
  /** The slot of the handshake, so that it never waits for other calls. */
  static final int HANDSHAKE = 0;

  private static final int SLOT_BITS = 16;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

  /** The most calls besides the handshake. */
  static final int MOST = SLOT_MASK - 1;

  private final RpcCall[] calls;
  private final long[] correlationIds;
  private final int[] free;
  private int freeCount;
  private int inFlight;
  private long sequence;

  /** Creates slots for this many calls besides the handshake. */
  CallSlots(int most) {
    this.calls = new RpcCall[most + 1];
    this.correlationIds = new long[most + 1];
    this.free = new int[most];
    reset();
  }

  private void reset() {
    Arrays.fill(calls, null);
    inFlight = 0;
    freeCount = 0;
    for (int slot = calls.length - 1; slot > HANDSHAKE; slot--) {
      free[freeCount++] = slot;
    }
  }

  /** Calls in flight. */
  int inFlight() {
    return inFlight;
  }

  /** True when another call may be sent. */
  boolean isAnyFree() {
    return freeCount > 0;
  }

  /** Takes a free slot; there must be one. */
  int take() {
    return free[--freeCount];
  }

  /** Gives back a slot that was taken and not used. */
  void giveBack(int slot) {
    free[freeCount++] = slot;
  }

  /** The correlation id of the next call, in a slot. */
  long nextCorrelationId(int slot) {
    return ++sequence << SLOT_BITS | slot;
  }

  /** Notes that a call was sent, in the slot that its correlation id names. */
  void put(long correlationId, RpcCall call) {
    int slot = slot(correlationId);
    calls[slot] = call;
    correlationIds[slot] = correlationId;
    inFlight++;
  }

  /** The slot that a correlation id names. */
  static int slot(long correlationId) {
    return (int) correlationId & SLOT_MASK;
  }

  /** Removes and returns the call in flight with a correlation id; null when there is none. */
  RpcCall remove(long correlationId) {
    int slot = slot(correlationId);
    RpcCall call = slot < calls.length ? calls[slot] : null;
    if (call == null || correlationIds[slot] != correlationId) {
      return null;
    }
    free(slot);
    return call;
  }

  private void free(int slot) {
    calls[slot] = null;
    inFlight--;
    if (slot != HANDSHAKE) {
      free[freeCount++] = slot;
    }
  }

  /** True when some call may have had a correlation id. */
  boolean mayHaveBeen(long correlationId) {
    return slot(correlationId) < calls.length && correlationId >>> SLOT_BITS <= sequence;
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
        free(slot);
      }
    }
    return expired;
  }

  /** Removes and returns all calls, in the order in which they were sent. */
  List<RpcCall> takeAll() {
    List<RpcCall> taken =
        IntStream.range(0, calls.length)
            .filter(slot -> calls[slot] != null)
            .boxed()
            .sorted(Comparator.comparingLong(slot -> correlationIds[slot]))
            .map(slot -> calls[slot])
            .toList();
    reset();
    return taken;
  }
}
