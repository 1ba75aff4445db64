/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.verbs.Layouts;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/**
 * A queue pair in memory that is stricter than a device. A message without a receive request is an
 * error at once, and messages that are sent from memory are read as late as possible.
 */
final class SimulatedPort implements MessagePort {
  /** A message, with its bytes when they were copied while posting; a probe has neither. */
  private record Message(int slot, int header, byte[] copy, SendChunk chunk, int from, int length) {
    boolean isProbe() {
      return length < 0;
    }
  }

  private record Completion(int request, int opcode, int bytes) {}

  private final DarpcSettings settings;
  private final ByteBuffer memory;
  private final ArrayDeque<Integer> receives = new ArrayDeque<>();
  private final ArrayDeque<Message> added = new ArrayDeque<>();
  private final ArrayDeque<Message> underway = new ArrayDeque<>();
  private final ArrayDeque<Integer> signalled = new ArrayDeque<>();
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private SimulatedPort peer;
  private Messenger messenger;
  private int sends;
  private int unended;
  boolean closed;
  boolean released;
  long withContent;
  long without;
  long probes;

  SimulatedPort(DarpcSettings settings) {
    this.settings = settings;
    this.memory =
        ByteBuffer.allocate(settings.receives() * settings.messageSize())
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  static SendChunk.Pool newPool() {
    return new SendChunk.Pool(
        () -> new SendChunk(ByteBuffer.allocate(SendChunk.CAPACITY), 0, 0, () -> {}));
  }

  void connect(SimulatedPort newPeer, Messenger newMessenger) {
    peer = newPeer;
    messenger = newMessenger;
  }

  /** Brings the oldest message to the peer; false when there is none. */
  boolean deliver() {
    Message message = underway.poll();
    if (message == null) {
      return false;
    }
    if (!message.isProbe()) {
      byte[] content = message.copy == null ? copy(message) : message.copy;
      ByteBuffer bytes = ByteBuffer.allocate(Dialect.HEADER_LENGTH + content.length);
      peer.arrive(bytes.putInt(message.header).put(content).array());
    }
    unended++;
    if (message.slot == (signalled.isEmpty() ? -1 : signalled.peek())) {
      signalled.poll();
      sends -= unended;
      unended = 0;
      completions.add(new Completion(message.slot | SEND, Layouts.WC_OPCODE_SEND, 0));
    }
    return true;
  }

  private static byte[] copy(Message message) {
    byte[] bytes = new byte[message.length];
    if (message.length > 0) {
      message.chunk.view().get(message.from, bytes);
    }
    return bytes;
  }

  /** A message has come, whoever sent it. */
  void arrive(byte[] message) {
    Integer place = receives.poll();
    assertTrue(place != null, "a message finds no receive request");
    assertTrue(message.length <= settings.messageSize(), "longer than the peer takes");
    memory.put(offset(place), message);
    completions.add(new Completion(place, Layouts.WC_OPCODE_RECV, message.length));
  }

  /** Reports completions; false when there are none. */
  boolean poll(int most) {
    int count = Math.min(most, completions.size());
    for (int i = 0; i < count && !closed; i++) {
      Completion completion = completions.poll();
      messenger.completed(completion.request, completion.opcode, completion.bytes);
    }
    if (count > 0 && !closed) {
      messenger.batchEnded();
    }
    return count > 0;
  }

  @Override
  public ByteBuffer memory() {
    return memory;
  }

  @Override
  public int offset(int place) {
    return place * settings.messageSize();
  }

  @Override
  public int inlineBytes() {
    return settings.inlineBytes();
  }

  @Override
  public int postReceives(int[] places, int count) {
    for (int i = 0; i < count; i++) {
      assertFalse(receives.contains(places[i]), "posted twice");
      receives.add(places[i]);
    }
    return 0;
  }

  @Override
  public void addSend(int slot, int header, SendChunk chunk, int from, int length, boolean inline) {
    Message message = new Message(slot, header, null, chunk, from, length);
    added.add(inline ? new Message(slot, header, copy(message), null, 0, length) : message);
    if (length > 0) {
      withContent++;
    } else {
      without++;
    }
  }

  @Override
  public int postSends(boolean isSignalled) {
    sends += added.size();
    assertTrue(sends <= settings.sends(), "more sends than the queue takes");
    underway.addAll(added);
    if (isSignalled) {
      signalled.add(added.peekLast().slot);
    }
    added.clear();
    return 0;
  }

  @Override
  public int postProbe(int slot) {
    added.add(new Message(slot, 0, null, null, 0, -1));
    probes++;
    return postSends(true);
  }

  @Override
  public void close(String cause) {
    if (!closed) {
      closed = true;
      messenger.closed(cause);
    }
  }

  @Override
  public void release() {
    released = true;
  }
}
