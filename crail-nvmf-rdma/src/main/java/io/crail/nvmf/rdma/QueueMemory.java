/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.nvmf.NvmeCommand;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The registered memory of a queue, and the requests to its device, all laid out once. For each
 * slot there are a command and a place for data that are copied; for each receive there is room for
 * a completion. The target reaches only the places for data.
 */
final class QueueMemory implements AutoCloseable {
  /** Bytes of a completion. */
  static final int COMPLETION = 16;

  /** The bit that distinguishes the number of a send request from that of a receive request. */
  static final int SEND = 1 << 30;

  /** Receives and commands begin on a cache line. */
  private static final int LINE = 64;

  private static final int SEND_ELEMENTS = 2;
  private static final int SEND_LENGTH = Layouts.SEND_WR_SIZE + SEND_ELEMENTS * Layouts.SGE_SIZE;
  private static final int RECEIVE_LENGTH = Layouts.RECV_WR_SIZE + Layouts.SGE_SIZE;

  private final QueuePair pair;
  private final int slots;
  private final int placeLength;
  private final boolean inline;
  private final ByteBuffer own;
  private final ByteBuffer places;
  private final ByteBuffer requests;
  private final long requestsAddress;
  private final RegisteredMemory ownRegion;
  private final RegisteredMemory placesRegion;

  // The chains that are being put together; -1 for none.
  private int firstSend = -1;
  private int lastSend;
  private int firstReceive = -1;
  private int lastReceive;

  /**
   * Registers the memory.
   *
   * @param placeLength bytes of each place for data
   */
  QueueMemory(QueuePair pair, int slots, int receives, int placeLength) throws RdmaException {
    this.pair = pair;
    this.slots = slots;
    this.placeLength = placeLength;
    this.inline = pair.inlineBytes() >= NvmeCommand.LENGTH;
    this.own =
        ByteBuffer.allocateDirect((slots + receives + 1) * LINE)
            .alignedSlice(LINE)
            .order(ByteOrder.LITTLE_ENDIAN);
    this.places = ByteBuffer.allocateDirect(slots * placeLength);
    this.requests =
        ByteBuffer.allocateDirect(slots * SEND_LENGTH + receives * RECEIVE_LENGTH)
            .order(ByteOrder.nativeOrder());
    this.requestsAddress = Verbs.addressOf(requests);
    this.ownRegion = pair.device().register(own, Layouts.ACCESS_LOCAL_WRITE);
    RegisteredMemory reached = null;
    try {
      reached =
          pair.device()
              .register(
                  places,
                  Layouts.ACCESS_LOCAL_WRITE
                      | Layouts.ACCESS_REMOTE_READ
                      | Layouts.ACCESS_REMOTE_WRITE);
    } finally {
      if (reached == null) {
        ownRegion.close();
      }
    }
    this.placesRegion = reached;
    for (int slot = 0; slot < slots; slot++) {
      layOutSend(slot);
    }
    for (int receive = 0; receive < receives; receive++) {
      layOutReceive(receive);
    }
  }

  private void layOutSend(int slot) {
    int at = sendAt(slot);
    int sge = at + Layouts.SEND_WR_SIZE;
    requests.putLong(at + Layouts.WR_ID, pair.wrId(slot | SEND));
    requests.putLong(at + Layouts.WR_SGES, requestsAddress + sge);
    requests.putInt(at + Layouts.SEND_WR_OPCODE, Layouts.OPCODE_SEND);
    element(sge, ownRegion.address() + commandAt(slot), NvmeCommand.LENGTH, ownRegion.lkey());
  }

  private void layOutReceive(int receive) {
    int at = receiveAt(receive);
    int sge = at + Layouts.RECV_WR_SIZE;
    requests.putLong(at + Layouts.WR_ID, pair.wrId(receive));
    requests.putLong(at + Layouts.WR_SGES, requestsAddress + sge);
    requests.putInt(at + Layouts.WR_SGE_COUNT, 1);
    element(sge, ownRegion.address() + completionAt(receive), COMPLETION, ownRegion.lkey());
  }

  private void element(int at, long address, int length, int key) {
    requests.putLong(at + Layouts.SGE_ADDRESS, address);
    requests.putInt(at + Layouts.SGE_LENGTH, length);
    requests.putInt(at + Layouts.SGE_LKEY, key);
  }

  private int sendAt(int slot) {
    return slot * SEND_LENGTH;
  }

  private int receiveAt(int receive) {
    return slots * SEND_LENGTH + receive * RECEIVE_LENGTH;
  }

  /** The memory of commands and completions, little-endian. */
  ByteBuffer own() {
    return own;
  }

  /** Where a slot's command begins in it. */
  int commandAt(int slot) {
    return slot * LINE;
  }

  /** Where a receive's completion begins in it. */
  int completionAt(int receive) {
    return (slots + receive) * LINE;
  }

  /** The memory of the places for data. */
  ByteBuffer places() {
    return places;
  }

  /** Bytes of a place. */
  int placeLength() {
    return placeLength;
  }

  /** Where a slot's place begins in it. */
  int placeAt(int slot) {
    return slot * placeLength;
  }

  /** The address of a slot's place. */
  long placeAddress(int slot) {
    return placesRegion.address() + placeAt(slot);
  }

  /** Forgets what an earlier command has left in a slot's place. Not for the data path. */
  void clearPlace(int slot) {
    places.put(placeAt(slot), new byte[placeLength]);
  }

  /** The registration of the places. */
  RegisteredMemory placesRegion() {
    return placesRegion;
  }

  /** Adds a slot's command to those that leave with {@link #postSends}. */
  void addSend(int slot) {
    int at = sendAt(slot);
    requests.putInt(at + Layouts.WR_SGE_COUNT, 1);
    requests.putInt(
        at + Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED | (inline ? Layouts.SEND_INLINE : 0));
    chainSend(at);
  }

  /** Adds a slot's command that carries data along. */
  void addSend(int slot, long dataAddress, int dataLength, int dataKey) {
    int at = sendAt(slot);
    requests.putInt(at + Layouts.WR_SGE_COUNT, 2);
    requests.putInt(at + Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
    element(at + Layouts.SEND_WR_SIZE + Layouts.SGE_SIZE, dataAddress, dataLength, dataKey);
    chainSend(at);
  }

  private void chainSend(int at) {
    requests.putLong(at + Layouts.WR_NEXT, 0);
    if (firstSend < 0) {
      firstSend = at;
    } else {
      requests.putLong(lastSend + Layouts.WR_NEXT, requestsAddress + at);
    }
    lastSend = at;
  }

  /** Adds a receive to those that {@link #postReceives} posts. */
  void addReceive(int receive) {
    int at = receiveAt(receive);
    requests.putLong(at + Layouts.WR_NEXT, 0);
    if (firstReceive < 0) {
      firstReceive = at;
    } else {
      requests.putLong(lastReceive + Layouts.WR_NEXT, requestsAddress + at);
    }
    lastReceive = at;
  }

  /** Posts what was added; 0, or a negative error number. */
  int postReceives() {
    int first = firstReceive;
    firstReceive = -1;
    return first < 0 ? 0 : pair.postReceive(requestsAddress + first);
  }

  /** Posts what was added; 0, or a negative error number. */
  int postSends() {
    int first = firstSend;
    firstSend = -1;
    return first < 0 ? 0 : pair.post(requestsAddress + first);
  }

  @Override
  public void close() {
    ownRegion.close();
    placesRegion.close();
  }
}
