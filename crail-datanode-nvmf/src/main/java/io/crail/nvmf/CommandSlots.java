/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.rpc.ClientLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * The requests in flight on a queue, by the id of their command. Used only in the loop, which is
 * the one owner of a queue: no other thread may send, and the ends of requests are reported in this
 * one.
 */
public class CommandSlots {
  /** No slot. */
  public static final int NONE = -1;

  private static final int SLOT_BITS = 12;

  /** The most slots; no id has all bits set, which stands for none. */
  public static final int MOST = (1 << SLOT_BITS) - 1;

  private static final int MOST_USES = (1 << Short.SIZE - SLOT_BITS) - 1;

  private final ClientLoop loop;
  private final NvmeRequest[] requests;
  private final int[] uses;
  private final int[] free;
  private int freeCount;

  /**
   * Creates free slots.
   *
   * @param loop the owner
   * @param count from 1 to {@link #MOST}
   */
  public CommandSlots(ClientLoop loop, int count) {
    this.loop = loop;
    this.requests = new NvmeRequest[count];
    this.uses = new int[count];
    this.free = new int[count];
    for (int slot = count - 1; slot >= 0; slot--) {
      free[freeCount++] = slot;
    }
  }

  /** The number of slots. */
  public final int count() {
    return requests.length;
  }

  /** True when one more request may be in flight. */
  public final boolean isAnyFree() {
    return freeCount > 0;
  }

  /** Requests in flight. */
  public final int inFlight() {
    return requests.length - freeCount;
  }

  /** Puts a request into a free slot, and returns the slot. */
  public int take(NvmeRequest request) {
    assert loop.isDriver() : "a request of a thread that does not drive the loop";
    int slot = free[--freeCount];
    requests[slot] = request;
    uses[slot] = uses[slot] + 1 & MOST_USES;
    return slot;
  }

  /** The request of a slot; null when there is none. */
  public final NvmeRequest request(int slot) {
    return slot < requests.length ? requests[slot] : null;
  }

  /**
   * The id of the command in a slot. It counts the uses of the slot, so that a late or repeated
   * answer is not taken for one to the next command.
   */
  public final int id(int slot) {
    return uses[slot] << SLOT_BITS | slot;
  }

  /**
   * The slot of a command in flight that the controller names.
   *
   * @throws ProtocolError when there is none
   */
  public final int slot(int id) throws ProtocolError {
    int slot = id & MOST;
    if (request(slot) == null || id(slot) != id) {
      throw new ProtocolError("an answer to a command " + id + " that is not in flight");
    }
    return slot;
  }

  /** Removes and returns a request. */
  public NvmeRequest free(int slot) {
    assert loop.isDriver() : "the end of a request in a thread that does not drive the loop";
    NvmeRequest request = requests[slot];
    requests[slot] = null;
    free[freeCount++] = slot;
    return request;
  }

  /** Reports to all requests that the queue is lost. */
  public final void endAll(String cause) {
    List<NvmeRequest> lost = new ArrayList<>();
    for (int slot = 0; slot < requests.length; slot++) {
      if (requests[slot] != null) {
        lost.add(free(slot));
      }
    }
    lost.forEach(request -> request.lost(cause));
  }
}
