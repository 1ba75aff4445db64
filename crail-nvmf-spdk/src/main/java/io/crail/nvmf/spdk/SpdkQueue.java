/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.nvmf.CommandSlots;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import java.nio.ByteBuffer;

/**
 * The queue for I/O of a controller in SPDK. Requests gather in a ring, and leave with the next
 * poll of the loop.
 *
 * <p>Over TCP the data are in the user's memory, which SPDK uses until the request or the queue
 * ends. Over RDMA SPDK would need that memory registered, once and in whole pages, which users'
 * buffers are not; so the data are copied through places of the queue's own.
 */
final class SpdkQueue implements NvmeQueue, SpdkLoop.Polled {
  private final SpdkLoop spdk;
  private final SpdkConnection connection;
  private final NvmeQueue.Listener listener;
  private final CommandSlots slots;
  private final ByteBuffer rings;
  private final ByteBuffer places;
  private final int placeLength;
  private final long placesAddress;
  private final int completionsAt;
  private int sends;

  // Completions in the ring, and how many of them were delivered.
  private int collected;
  private int delivered;
  private boolean closed;

  SpdkQueue(SpdkLoop spdk, SpdkConnection connection, NvmeQueue.Listener listener) {
    this.spdk = spdk;
    this.connection = connection;
    this.listener = listener;
    this.slots = new CommandSlots(spdk.loop(), connection.depth());
    this.rings = connection.rings();
    this.places = connection.places();
    this.placeLength = connection.data().maxTransfer();
    this.placesAddress = places == null ? 0 : Spdk.address(places);
    this.completionsAt = connection.depth() * SpdkLayout.SUBMISSION_SIZE;
    spdk.add(this);
  }

  @Override
  public void inCapsule(int bytes) {
    // SPDK knows.
  }

  @Override
  public boolean leavesMemoryAlone() {
    return places != null;
  }

  @Override
  public boolean hasRoom() {
    return !closed && slots.isAnyFree();
  }

  @Override
  public int inFlight() {
    return slots.inFlight();
  }

  @Override
  public void send(NvmeRequest request) {
    boolean empty = request.direction() == NvmeRequest.Direction.NONE;
    int length = empty ? 0 : request.length();
    if (length > placeLength) {
      // SPDK would wait without end.
      throw new IllegalArgumentException(length + " bytes in one command, not " + placeLength);
    }
    int slot = slots.take(request);
    spdk.begun();
    int at = sends++ * SpdkLayout.SUBMISSION_SIZE;
    for (int i = 0; i < NvmeCommand.LENGTH; i += Long.BYTES) {
      rings.putLong(at + i, 0);
    }
    request.encode(rings, at + SpdkLayout.SUBMISSION_COMMAND);
    rings.putLong(at + SpdkLayout.SUBMISSION_ADDRESS, empty ? 0 : address(slot, request));
    rings.putInt(at + SpdkLayout.SUBMISSION_LENGTH, length);
    rings.putInt(at + SpdkLayout.SUBMISSION_SLOT, slot);
  }

  private long address(int slot, NvmeRequest request) {
    if (places == null) {
      return Spdk.address(request.view()) + request.offset();
    }
    int at = slot * placeLength;
    if (request.direction() == NvmeRequest.Direction.TO_CONTROLLER) {
      places.put(at, request.view().clear(), request.offset(), request.length());
    }
    return placesAddress + at;
  }

  @Override
  public void flush() {
    // The loop polls before it does anything else that takes time.
  }

  @Override
  public boolean poll() {
    if (closed) {
      return false;
    }
    // Otherwise one of the handlers has thrown something.
    if (delivered == collected && !collect()) {
      return true;
    }
    boolean any = delivered < collected;
    while (delivered < collected && !closed) {
      int at = completionsAt + delivered++ * SpdkLayout.COMPLETION_SIZE;
      end(
          rings.getInt(at + SpdkLayout.COMPLETION_SLOT),
          rings.getInt(at + SpdkLayout.COMPLETION_STATUS),
          rings.getLong(at + SpdkLayout.COMPLETION_RESULT));
    }
    return any;
  }

  /** False when the queue is lost. */
  private boolean collect() {
    delivered = 0;
    collected = 0;
    int count = connection.poll(sends);
    sends = 0;
    if (count < 0) {
      String cause = "the connection was closed (error " + -count + ")";
      try {
        close(cause);
      } finally {
        listener.lost(cause);
      }
      return false;
    }
    collected = count;
    return true;
  }

  private void end(int slot, int status, long result) {
    NvmeRequest request = slots.free(slot);
    spdk.ended(1);
    if (places != null
        && status == NvmeStatus.OK
        && request.direction() == NvmeRequest.Direction.TO_HOST
        && !request.isGivenUp()) {
      request.view().clear().put(request.offset(), places, slot * placeLength, request.length());
    }
    request.ended(status, result);
  }

  @Override
  public void close(String cause) {
    if (closed) {
      return;
    }
    closed = true;
    spdk.remove(this);
    connection.close();
    spdk.ended(slots.inFlight());
    slots.endAll(cause);
  }
}
