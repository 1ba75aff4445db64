/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Layouts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A {@link Messenger}'s access to the device: memory for incoming messages with a place for each
 * receive request, and the queues. Completions of send requests have {@link #SEND} set in their
 * number.
 */
interface MessagePort {
  /** The bit that marks the number of a send request. */
  int SEND = 1 << 30;

  /** The memory for incoming messages, little-endian. */
  ByteBuffer memory();

  /** The offset of a place in this memory. */
  int offset(int place);

  /** The longest message that posting copies (inline). */
  int inlineBytes();

  /** Posts receive requests for places; 0, or a negative error number. */
  int postReceives(int[] places, int count);

  /** Adds a message to those that {@link #postSends} posts. */
  void addSend(int slot, int header, SendChunk chunk, int from, int length, boolean inline);

  /** Posts the messages that were added; 0, or a negative error number. */
  int postSends(boolean signalled);

  /**
   * Posts a write of zero bytes whose completion is reported. Returns 0, or a negative error
   * number.
   */
  int postProbe(int slot);

  /** Ends the connection. */
  void close(String cause);

  /** Gives the memory back, after the end. */
  void release();

  /** The port of a queue pair. */
  final class OfQueuePair implements MessagePort {
    private final QueuePair pair;
    private final WorkRequests requests;
    private final int messageSize;
    private final int stride;
    private final int headers;
    private final ByteBuffer memory;
    private final RegisteredMemory region;

    OfQueuePair(QueuePair pair, Workspace workspace) throws RdmaException {
      DarpcSettings settings = workspace.settings();
      this.pair = pair;
      this.requests = workspace.requests();
      this.messageSize = settings.messageSize();
      this.stride = settings.placeLength();
      this.headers = settings.receives() * stride;
      this.memory =
          Workspace.allocate(settings.memoryLength())
              .alignedSlice(DarpcSettings.CACHE_LINE)
              .order(ByteOrder.LITTLE_ENDIAN);
      this.region = pair.device().register(memory, Layouts.ACCESS_LOCAL_WRITE);
    }

    @Override
    public ByteBuffer memory() {
      return memory;
    }

    @Override
    public int offset(int place) {
      return place * stride;
    }

    @Override
    public int inlineBytes() {
      return pair.inlineBytes();
    }

    @Override
    public int postReceives(int[] places, int count) {
      for (int i = 0; i < count; i++) {
        int place = places[i];
        requests.addReceive(
            pair.wrId(place), region.address() + offset(place), messageSize, region.lkey());
      }
      return requests.postReceives(pair);
    }

    @Override
    public void addSend(
        int slot, int header, SendChunk chunk, int from, int length, boolean inline) {
      int at = headers + slot * Dialect.HEADER_LENGTH;
      memory.putInt(at, Integer.reverseBytes(header));
      requests.addSend(
          pair.wrId(slot | SEND),
          region.address() + at,
          Dialect.HEADER_LENGTH,
          region.lkey(),
          inline);
      if (length > 0) {
        requests.content(chunk.address() + from, length, chunk.localKey());
      }
    }

    @Override
    public int postSends(boolean signalled) {
      return requests.postSends(pair, signalled);
    }

    @Override
    public int postProbe(int slot) {
      return requests.postProbe(pair, pair.wrId(slot | SEND));
    }

    @Override
    public void close(String cause) {
      pair.close(cause);
    }

    @Override
    public void release() {
      region.close();
    }
  }
}
