/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.rdma.QueuePair;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory in which chains of work requests are laid out. It may be reused as soon as a chain was
 * posted, so all connections of a thread share it. Not thread-safe.
 */
final class WorkRequests {
  private static final int SEND_ELEMENTS = 2;

  private final ByteBuffer sends;
  private final long sendsAddress;
  private final int sendElements;
  private final ByteBuffer probe;
  private final long probeAddress;
  private final ByteBuffer receives;
  private final long receivesAddress;
  private final int receiveElements;
  private int sendCount;
  private int receiveCount;

  /**
   * Lays out the requests.
   *
   * @param maxSends the longest chain of sends
   * @param maxReceives the longest chain of receives
   */
  WorkRequests(int maxSends, int maxReceives) {
    this.sendElements = maxSends * Layouts.SEND_WR_SIZE;
    this.sends = memory(sendElements + maxSends * SEND_ELEMENTS * Layouts.SGE_SIZE);
    this.sendsAddress = Verbs.addressOf(sends);
    // It writes zero bytes, so it needs no memory of the peer either.
    this.probe = memory(Layouts.SEND_WR_SIZE);
    this.probeAddress = Verbs.addressOf(probe);
    probe.putInt(Layouts.SEND_WR_OPCODE, Layouts.OPCODE_RDMA_WRITE);
    probe.putInt(Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
    this.receiveElements = maxReceives * Layouts.RECV_WR_SIZE;
    this.receives = memory(receiveElements + maxReceives * Layouts.SGE_SIZE);
    this.receivesAddress = Verbs.addressOf(receives);
    for (int i = 0; i < maxSends; i++) {
      int at = i * Layouts.SEND_WR_SIZE;
      sends.putLong(at + Layouts.WR_SGES, sendsAddress + sendElement(i, 0));
      sends.putInt(at + Layouts.SEND_WR_OPCODE, Layouts.OPCODE_SEND);
    }
    for (int i = 0; i < maxReceives; i++) {
      int at = i * Layouts.RECV_WR_SIZE;
      receives.putLong(at + Layouts.WR_SGES, receivesAddress + receiveElement(i));
      receives.putInt(at + Layouts.WR_SGE_COUNT, 1);
    }
  }

  private static ByteBuffer memory(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  private int sendElement(int request, int element) {
    return sendElements + (request * SEND_ELEMENTS + element) * Layouts.SGE_SIZE;
  }

  private int receiveElement(int request) {
    return receiveElements + request * Layouts.SGE_SIZE;
  }

  /** Adds a send of one run of memory, to which {@link #content} may add another one. */
  void addSend(long wrId, long address, int length, int localKey, boolean inline) {
    int at = sendCount * Layouts.SEND_WR_SIZE;
    if (sendCount > 0) {
      sends.putLong(at - Layouts.SEND_WR_SIZE + Layouts.WR_NEXT, sendsAddress + at);
    }
    sends.putLong(at + Layouts.WR_ID, wrId);
    sends.putLong(at + Layouts.WR_NEXT, 0);
    sends.putInt(at + Layouts.WR_SGE_COUNT, 1);
    sends.putInt(at + Layouts.SEND_WR_FLAGS, inline ? Layouts.SEND_INLINE : 0);
    element(sends, sendElement(sendCount, 0), address, length, localKey);
    sendCount++;
  }

  /** Adds a run of memory to the send that was added last. */
  void content(long address, int length, int localKey) {
    int last = sendCount - 1;
    sends.putInt(last * Layouts.SEND_WR_SIZE + Layouts.WR_SGE_COUNT, 2);
    element(sends, sendElement(last, 1), address, length, localKey);
  }

  /** Posts the sends; 0, or a negative error number. */
  int postSends(QueuePair pair, boolean signalLast) {
    if (signalLast) {
      int flags = (sendCount - 1) * Layouts.SEND_WR_SIZE + Layouts.SEND_WR_FLAGS;
      sends.putInt(flags, sends.getInt(flags) | Layouts.SEND_SIGNALED);
    }
    sendCount = 0;
    return pair.post(sendsAddress);
  }

  /** Posts a write of zero bytes. Returns 0, or a negative error number. */
  int postProbe(QueuePair pair, long wrId) {
    probe.putLong(Layouts.WR_ID, wrId);
    return pair.post(probeAddress);
  }

  /** Adds a receive. */
  void addReceive(long wrId, long address, int length, int localKey) {
    int at = receiveCount * Layouts.RECV_WR_SIZE;
    if (receiveCount > 0) {
      receives.putLong(at - Layouts.RECV_WR_SIZE + Layouts.WR_NEXT, receivesAddress + at);
    }
    receives.putLong(at + Layouts.WR_ID, wrId);
    receives.putLong(at + Layouts.WR_NEXT, 0);
    element(receives, receiveElement(receiveCount), address, length, localKey);
    receiveCount++;
  }

  /** Posts the receives; 0, or a negative error number. */
  int postReceives(QueuePair pair) {
    receiveCount = 0;
    return pair.postReceive(receivesAddress);
  }

  private static void element(ByteBuffer to, int at, long address, int length, int localKey) {
    to.putLong(at + Layouts.SGE_ADDRESS, address);
    to.putInt(at + Layouts.SGE_LENGTH, length);
    to.putInt(at + Layouts.SGE_LKEY, localKey);
  }
}
