/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RegisteredMemory;
import io.crail.verbs.Layouts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a {@link Messenger} has of the device: memory for the messages that come, a place for each
 * receive request, and queues. Numbers of send requests come back with {@link #SEND} set.
 */
interface MessagePort {
  /** Bit in the number of a send request. */
  int SEND = 1 << 30;

  /** The memory that messages come into, little-endian. */
  ByteBuffer memory();

  /** Where a place begins in it. */
  int offset(int place);

  /** The longest message that is copied while posting. */
  int inlineBytes();

  /** Posts receive requests for places; 0, or a negative error number. */
  int postReceives(int[] places, int count);

  /** Puts a message after those that {@link #postSends} posts. */
  void addSend(int slot, int header, SendChunk chunk, int from, int length, boolean inline);

  /** Posts the messages that were added; 0, or a negative error number. */
  int postSends(boolean signalled);

  /** Posts a write of nothing, of whose end is told; 0, or a negative error number. */
  int postProbe(int slot);

  /** Ends the connection. */
  void close(String cause);

  /** Gives the memory back, after the end. */
  void release();

  /** Bytes of the memory of a connection. */
  static int memoryLength(DarpcSettings settings) {
    return settings.receives() * OfQueuePair.stride(settings)
        + settings.sends() * Dialect.HEADER_LENGTH
        + 2 * OfQueuePair.CACHE_LINE;
  }

  /** Of a queue pair. */
  final class OfQueuePair implements MessagePort {
    private static final int CACHE_LINE = 64;

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
      this.stride = stride(settings);
      this.headers = settings.receives() * stride;
      this.memory =
          Workspace.allocate(memoryLength(settings))
              .alignedSlice(CACHE_LINE)
              .order(ByteOrder.LITTLE_ENDIAN);
      this.region = pair.device().register(memory, Layouts.ACCESS_LOCAL_WRITE);
    }

    /** Places that begin on a cache line are written by the device without a read. */
    private static int stride(DarpcSettings settings) {
      return (settings.messageSize() + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
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
