/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.fabric;

import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.NvmeRequest;
import java.nio.ByteBuffer;

/** A command of a controller's start, or a sign of the host. It is used once. */
final class AdminRequest extends NvmeRequest {
  /** Writes a command. */
  interface Encoder {
    void encode(ByteBuffer out, int at);
  }

  /** Learns how a command ended. */
  interface Listener {
    /** Called unless the queue is lost; the controller learns of that by itself. */
    void ended(int status, long result);
  }

  private final Encoder encoder;
  private final Listener listener;
  private boolean mayBeShort;

  AdminRequest(Encoder encoder, Listener listener) {
    this.encoder = encoder;
    this.listener = listener;
  }

  /** Sends a command at once. */
  static void send(NvmeQueue queue, AdminRequest request) {
    queue.send(request);
    queue.flush();
  }

  AdminRequest reading(ByteBuffer memory) {
    data(Direction.TO_HOST, memory, memory, 0, memory.capacity());
    return this;
  }

  /** Reads an answer that may be shorter than its memory, which is zeroed. */
  AdminRequest readingMessage(ByteBuffer memory) {
    mayBeShort = true;
    return reading(memory);
  }

  AdminRequest writing(ByteBuffer memory) {
    data(Direction.TO_CONTROLLER, memory, memory, 0, memory.capacity());
    return this;
  }

  @Override
  public void encode(ByteBuffer out, int at) {
    encoder.encode(out, at);
  }

  @Override
  public boolean mayBeShort() {
    return mayBeShort;
  }

  @Override
  public void ended(int status, long result) {
    listener.ended(status, result);
  }

  @Override
  public void lost(String cause) {
    // The controller learns of it as well.
  }
}
