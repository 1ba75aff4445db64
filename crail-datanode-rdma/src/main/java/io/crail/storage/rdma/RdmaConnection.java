/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.rpc.rdma.memory.RegistrationCache;
import io.crail.storage.Transfer;
import io.crail.storage.network.TransferQueue;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One queue pair to a datanode. A transfer takes one of a fixed number of slots. Each slot has a
 * request that was laid out when the connection was made. Transfers that begin together are chained
 * and posted at once. The writes of such a batch have no completions of their own. A read of one
 * byte follows them; its answer leaves the datanode when the writes are in its memory, and
 * completes all of them. Used only in the loop.
 */
final class RdmaConnection implements QueuePair.Handler {
  /** The endpoint that a connection belongs to. */
  interface Owner {
    /** Transfers have ended, so waiting ones may begin. */
    void answered();

    /**
     * The connection is gone, and its queue pair destroyed.
     *
     * @param inFlight the transfers that it had in flight, except the refused one
     * @param refused the transfer that it refused, or null
     */
    void closed(
        RdmaConnection gone,
        String cause,
        TransferQueue<RdmaTransfer> inFlight,
        RdmaTransfer refused,
        String refusal);
  }

  private static final int SLOT_LENGTH = Layouts.SEND_WR_SIZE + Layouts.SGE_SIZE;
  private static final int FLUSH_LENGTH = 1;
  private static final int PAGE = 4096;

  private final Owner endpoint;
  private final SharedRdma shared;
  private final QueuePair pair;
  private final int depth;
  private final int copyLimit;
  private final boolean writeFlush;
  private final RegistrationCache registrations;

  /** The requests: first those of the slots, then the requests of the reads after writes. */
  private final ByteBuffer requests;

  private final long requestsAddress;

  /** The transfers in flight, by slot. */
  private final RdmaTransfer[] slots;

  /**
   * For each request, the transfers that its completion completes: the first of a list of writes.
   */
  private final RdmaTransfer[] batches;

  private final int[] freeSlots;
  private final int[] freeFlushes;
  private int freeSlotCount;
  private int freeFlushCount;

  /**
   * Registered memory of its own: a page for the reads after writes, then one piece for each slot.
   */
  private RegisteredMemory ownMemory;

  private ByteBuffer ownBytes;

  // The batch that is being put together.
  private int chainFirst = -1;
  private int chainLast = -1;
  private final TransferQueue<RdmaTransfer> chainWrites = new TransferQueue<>();
  private int lastWriteSlot;
  private long lastWriteAddress;
  private int lastWriteKey;

  private RdmaTransfer guilty;
  private String guiltyText;
  private boolean useful;
  private boolean dispatching;

  RdmaConnection(Owner endpoint, SharedRdma shared, QueuePair pair) {
    this.endpoint = endpoint;
    this.shared = shared;
    this.pair = pair;
    this.registrations = shared.registrations(pair.device());
    this.depth = shared.depth();
    this.copyLimit = shared.copyLimit();
    this.writeFlush = shared.writeFlush();
    this.slots = new RdmaTransfer[depth];
    this.batches = new RdmaTransfer[2 * depth];
    this.freeSlots = new int[depth];
    this.freeFlushes = new int[depth];
    this.requests =
        ByteBuffer.allocateDirect(2 * depth * SLOT_LENGTH).order(ByteOrder.nativeOrder());
    this.requestsAddress = Verbs.addressOf(requests);
    for (int request = 2 * depth - 1; request >= 0; request--) {
      layOut(request);
      if (request < depth) {
        freeSlots[freeSlotCount++] = request;
      } else {
        freeFlushes[freeFlushCount++] = request;
      }
    }
  }

  private void layOut(int request) {
    int at = request * SLOT_LENGTH;
    requests.putLong(at + Layouts.WR_ID, pair.wrId(request));
    requests.putLong(at + Layouts.WR_SGES, requestsAddress + at + Layouts.SEND_WR_SIZE);
    requests.putInt(at + Layouts.WR_SGE_COUNT, 1);
  }

  /** The connection is made: creates what transfers still need. */
  void open() throws IOException {
    ownBytes = ByteBuffer.allocateDirect(PAGE + depth * copyLimit);
    ownMemory = pair.device().register(ownBytes, Layouts.ACCESS_LOCAL_WRITE);
    for (int flush = depth; flush < 2 * depth; flush++) {
      int at = flush * SLOT_LENGTH;
      int sge = at + Layouts.SEND_WR_SIZE;
      requests.putInt(at + Layouts.SEND_WR_OPCODE, Layouts.OPCODE_RDMA_READ);
      requests.putInt(at + Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
      requests.putLong(sge + Layouts.SGE_ADDRESS, ownMemory.address());
      requests.putInt(sge + Layouts.SGE_LENGTH, FLUSH_LENGTH);
      requests.putInt(sge + Layouts.SGE_LKEY, ownMemory.lkey());
    }
  }

  /** Destroys the queue pair, and reports to the endpoint which transfers were in flight. */
  void close(String cause) {
    pair.close(cause);
  }

  /** True when nothing is posted or about to be. */
  boolean isIdle() {
    return freeSlotCount == depth;
  }

  /** True when one more transfer may be in flight. */
  boolean hasRoom() {
    return freeSlotCount > 0;
  }

  /** True within a batch of completions. At its end waiting transfers are sent. */
  boolean isDispatching() {
    return dispatching;
  }

  /** True once a request has been answered, even by a refusal. */
  boolean wasUseful() {
    return useful;
  }

  /** True when there are transfers that were added but not posted. */
  boolean hasChain() {
    return chainFirst >= 0;
  }

  /**
   * Finds out how a transfer's memory is reached: it is registered, or it needs no registration.
   * False when the memory has to be registered first.
   */
  boolean findMemory(RdmaTransfer state) {
    Transfer transfer = state.transfer();
    state.copied = false;
    if (state.isWrite() && transfer.length() <= pair.inlineBytes()) {
      locate(state);
      return true;
    }
    state.registration = find(state, transfer.root());
    if (state.registration == null && transfer.root() != transfer.buffer()) {
      state.registration = find(state, transfer.buffer());
    }
    if (state.registration != null) {
      return true;
    }
    state.copied = transfer.length() <= copyLimit;
    return state.copied;
  }

  /**
   * Finds the address of a transfer's memory. This is a native call, which a copied transfer does
   * not need.
   */
  private static void locate(RdmaTransfer state) {
    Transfer transfer = state.transfer();
    state.address = Verbs.addressOf(transfer.buffer()) + transfer.bufferOffset();
  }

  private RegistrationCache.Registration find(RdmaTransfer state, ByteBuffer memory) {
    RegistrationCache.Registration found = registrations.find(memory);
    if (found == null) {
      return null;
    }
    locate(state);
    if (!found.covers(state.address, state.transfer().length())) {
      registrations.release(found);
      return null;
    }
    return found;
  }

  /** Registers a transfer's memory; false when there is no room before other transfers end. */
  boolean registerMemory(RdmaTransfer state) throws IOException {
    Transfer transfer = state.transfer();
    locate(state);
    state.registration = registrations.register(transfer.root(), state.address, transfer.length());
    return state.registration != null;
  }

  /** Gives back a transfer's memory that was found or registered. */
  void releaseMemory(RdmaTransfer state) {
    if (state.registration != null) {
      registrations.release(state.registration);
      state.registration = null;
    }
  }

  /** Adds a transfer, whose memory was found, to the batch. The caller knows that there is room. */
  void add(RdmaTransfer state, long remoteAddress, int remoteKey) {
    Transfer transfer = state.transfer();
    int length = transfer.length();
    int slot = freeSlots[--freeSlotCount];
    slots[slot] = state;
    state.slot = slot;
    shared.begun();
    int flags = state.isWrite() ? 0 : Layouts.SEND_SIGNALED;
    long address;
    int lkey;
    if (state.copied) {
      int at = PAGE + slot * copyLimit;
      if (state.isWrite()) {
        ownBytes.put(at, transfer.view().clear(), transfer.bufferOffset(), length);
      }
      address = ownMemory.address() + at;
      lkey = ownMemory.lkey();
    } else {
      address = state.address;
      lkey = state.registration == null ? 0 : state.registration.lkey();
      flags |= state.registration == null ? Layouts.SEND_INLINE : 0;
    }
    int at = slot * SLOT_LENGTH;
    int sge = at + Layouts.SEND_WR_SIZE;
    requests.putInt(
        at + Layouts.SEND_WR_OPCODE,
        state.isWrite() ? Layouts.OPCODE_RDMA_WRITE : Layouts.OPCODE_RDMA_READ);
    requests.putInt(at + Layouts.SEND_WR_FLAGS, flags);
    requests.putLong(at + Layouts.SEND_WR_REMOTE_ADDRESS, remoteAddress);
    requests.putInt(at + Layouts.SEND_WR_RKEY, remoteKey);
    requests.putLong(sge + Layouts.SGE_ADDRESS, address);
    requests.putInt(sge + Layouts.SGE_LENGTH, length);
    requests.putInt(sge + Layouts.SGE_LKEY, lkey);
    chain(slot);
    if (state.isWrite()) {
      chainWrites.addLast(state);
      lastWriteSlot = slot;
      lastWriteAddress = remoteAddress;
      lastWriteKey = remoteKey;
    }
  }

  private void chain(int request) {
    int at = request * SLOT_LENGTH;
    requests.putLong(at + Layouts.WR_NEXT, 0);
    if (chainFirst < 0) {
      chainFirst = request;
    } else {
      requests.putLong(chainLast * SLOT_LENGTH + Layouts.WR_NEXT, requestsAddress + at);
    }
    chainLast = request;
  }

  /** Posts the batch. The connection may be closed afterwards. */
  void post() {
    if (chainFirst < 0) {
      return;
    }
    if (!chainWrites.isEmpty()) {
      int last = lastWriteSlot;
      if (writeFlush) {
        last = freeFlushes[--freeFlushCount];
        int at = last * SLOT_LENGTH;
        requests.putLong(at + Layouts.SEND_WR_REMOTE_ADDRESS, lastWriteAddress);
        requests.putInt(at + Layouts.SEND_WR_RKEY, lastWriteKey);
        chain(last);
      } else {
        int flags = last * SLOT_LENGTH + Layouts.SEND_WR_FLAGS;
        requests.putInt(flags, requests.getInt(flags) | Layouts.SEND_SIGNALED);
      }
      batches[last] = chainWrites.takeAll();
    }
    int result = pair.post(requestsAddress + (long) chainFirst * SLOT_LENGTH);
    chainFirst = -1;
    if (result < 0) {
      pair.close("the device takes no request: " + Verbs.errorText(result));
    }
  }

  @Override
  public void completed(int request, int opcode, int bytes) {
    dispatching = true;
    useful = true;
    RdmaTransfer ended = batches[request];
    batches[request] = null;
    if (ended == null) {
      ended = slots[request];
    }
    if (request >= depth) {
      freeFlushes[freeFlushCount++] = request;
    }
    // All slots are freed before the first owner learns of its end, since it may begin new
    // transfers.
    for (RdmaTransfer each = ended; each != null; each = each.next()) {
      if (each.copied && !each.isWrite()) {
        Transfer transfer = each.transfer();
        int at = PAGE + each.slot * copyLimit;
        transfer.view().clear().put(transfer.bufferOffset(), ownBytes, at, transfer.length());
      }
      free(each);
    }
    while (ended != null) {
      RdmaTransfer following = ended.unlink();
      ended.end();
      ended = following;
    }
  }

  private void free(RdmaTransfer state) {
    slots[state.slot] = null;
    freeSlots[freeSlotCount++] = state.slot;
    releaseMemory(state);
    shared.ended();
  }

  @Override
  public void batchEnded() {
    dispatching = false;
    endpoint.answered();
  }

  @Override
  public void failed(int request, int status, String text) {
    if (status == Layouts.WC_FLUSHED
        || status == Layouts.WC_RETRIES_EXCEEDED
        || status == Layouts.WC_RNR_RETRIES_EXCEEDED) {
      return;
    }
    // A refused request has reached a device, so the connection was useful.
    useful = true;
    if (request < depth) {
      guilty = slots[request];
      guiltyText = text;
    }
  }

  @Override
  public void closed(String cause) {
    dispatching = false;
    TransferQueue<RdmaTransfer> inFlight = new TransferQueue<>();
    for (RdmaTransfer state : slots) {
      if (state != null) {
        free(state);
        state.unlink();
        if (state != guilty) {
          inFlight.addLast(state);
        }
      }
    }
    if (ownMemory != null) {
      ownMemory.close();
    }
    endpoint.closed(this, cause, inFlight, guilty, guiltyText);
  }

  /** True when a transfer is in flight whose deadline has passed. */
  boolean isOverdue(long nowNanos) {
    for (RdmaTransfer state : slots) {
      if (state != null && state.isOverdue(nowNanos)) {
        return true;
      }
    }
    return false;
  }
}
