/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.CommandSlots;
import io.crail.nvmf.NvmeRequest;
import io.crail.rpc.ClientLoop;

/** The requests in flight on a connection, and how much of their data was moved. */
final class TcpSlots extends CommandSlots {
  /** Reads of at least this many bytes are worth a read of the socket of their own. */
  private static final int LARGE = 32 * 1024;

  private final int[] received;
  private final int[] sent;
  private final boolean[] complete;
  private final boolean[] damaged;
  private int largeReads;

  TcpSlots(ClientLoop loop, int count) {
    super(loop, count);
    this.received = new int[count];
    this.sent = new int[count];
    this.complete = new boolean[count];
    this.damaged = new boolean[count];
  }

  /** Reads in flight whose data are worth a read of the socket of their own. */
  int largeReads() {
    return largeReads;
  }

  @Override
  public int take(NvmeRequest request) {
    int slot = super.take(request);
    received[slot] = 0;
    sent[slot] = 0;
    complete[slot] = false;
    damaged[slot] = false;
    largeReads += isLargeRead(request) ? 1 : 0;
    return slot;
  }

  private static boolean isLargeRead(NvmeRequest request) {
    return request.direction() == NvmeRequest.Direction.TO_HOST && request.length() >= LARGE;
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

  /** Whether no more data may arrive. */
  boolean isComplete(int slot) {
    return complete[slot];
  }

  /** The controller has said that no more data follow. */
  void complete(int slot) {
    complete[slot] = true;
  }

  boolean isDamaged(int slot) {
    return damaged[slot];
  }

  /** Data have arrived with a wrong digest. */
  void damaged(int slot) {
    damaged[slot] = true;
  }

  @Override
  public NvmeRequest free(int slot) {
    NvmeRequest request = super.free(slot);
    largeReads -= isLargeRead(request) ? 1 : 0;
    return request;
  }
}
