/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.NvmeRequest;
import java.util.ArrayList;
import java.util.List;

/** The requests in flight on a queue, by the id of their command. Used only in the loop. */
final class CommandSlots {
  /** No slot. */
  static final int NONE = -1;

  /** Reads of at least this many bytes are worth a read of the socket of their own. */
  private static final int LARGE = 32 * 1024;

  private static final int SLOT_BITS = 12;

  /** The most slots; no id has all bits set, which stands for none. */
  static final int MOST = (1 << SLOT_BITS) - 1;

  private static final int MOST_USES = (1 << Short.SIZE - SLOT_BITS) - 1;

  private final NvmeRequest[] requests;
  private final int[] received;
  private final int[] sent;
  private final int[] uses;
  private final boolean[] damaged;
  private final int[] free;
  private int freeCount;
  private int largeReads;

  CommandSlots(int count) {
    this.requests = new NvmeRequest[count];
    this.received = new int[count];
    this.sent = new int[count];
    this.uses = new int[count];
    this.damaged = new boolean[count];
    this.free = new int[count];
    for (int slot = count - 1; slot >= 0; slot--) {
      free[freeCount++] = slot;
    }
  }

  int count() {
    return requests.length;
  }

  boolean isAnyFree() {
    return freeCount > 0;
  }

  int inFlight() {
    return requests.length - freeCount;
  }

  /** Reads in flight whose data are worth a read of the socket of their own. */
  int largeReads() {
    return largeReads;
  }

  int take(NvmeRequest request) {
    int slot = free[--freeCount];
    requests[slot] = request;
    received[slot] = 0;
    sent[slot] = 0;
    uses[slot] = uses[slot] + 1 & MOST_USES;
    damaged[slot] = false;
    largeReads += isLargeRead(request) ? 1 : 0;
    return slot;
  }

  private static boolean isLargeRead(NvmeRequest request) {
    return request.direction() == NvmeRequest.Direction.TO_HOST && request.length() >= LARGE;
  }

  /** The request of a slot; null when there is none. */
  NvmeRequest request(int slot) {
    return slot < requests.length ? requests[slot] : null;
  }

  /**
   * The id of the command in a slot. It counts the uses of the slot, so that a late or repeated
   * answer is not taken for one to the next command.
   */
  int id(int slot) {
    return uses[slot] << SLOT_BITS | slot;
  }

  /** The slot of a command in flight that the controller names. */
  int slot(int id) throws ProtocolError {
    int slot = id & MOST;
    if (request(slot) == null || id(slot) != id) {
      throw new ProtocolError("an answer to a command " + id + " that is not in flight");
    }
    return slot;
  }

  /** Bytes of data that were sent. */
  int sent(int slot) {
    return sent[slot];
  }

  void sent(int slot, int bytes) {
    sent[slot] = bytes;
  }

  /** Bytes of data that have arrived. */
  int received(int slot) {
    return received[slot];
  }

  void received(int slot, int bytes) {
    received[slot] = bytes;
  }

  boolean isDamaged(int slot) {
    return damaged[slot];
  }

  /** Data have arrived with a wrong digest. */
  void damaged(int slot) {
    damaged[slot] = true;
  }

  /** Removes and returns a request. */
  NvmeRequest free(int slot) {
    NvmeRequest request = requests[slot];
    requests[slot] = null;
    free[freeCount++] = slot;
    largeReads -= isLargeRead(request) ? 1 : 0;
    return request;
  }

  /** Tells all requests that the queue is lost. */
  void endAll(String cause) {
    List<NvmeRequest> lost = new ArrayList<>();
    for (int slot = 0; slot < requests.length; slot++) {
      if (requests[slot] != null) {
        lost.add(free(slot));
      }
    }
    lost.forEach(request -> request.lost(cause));
  }
}
