/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The last event that was taken from a connection manager's channel. Used by one thread. */
final class CmEvent {
  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(Layouts.CM_EVENT_SIZE).order(ByteOrder.nativeOrder());
  private final long address = Verbs.addressOf(memory);

  /** Takes the next event without waiting. Returns false when there is none. */
  boolean take(long channel) throws VerbsException {
    return Verbs.getCmEvent(channel, 0, address) >= 0;
  }

  int type() {
    return memory.getInt(Layouts.CM_EVENT_TYPE);
  }

  long id() {
    return memory.getLong(Layouts.CM_EVENT_ID);
  }

  long listenId() {
    return memory.getLong(Layouts.CM_EVENT_LISTEN_ID);
  }

  /** A copy of the private data. */
  ByteBuffer privateData() {
    int length = memory.getInt(Layouts.CM_EVENT_PRIVATE_LENGTH);
    byte[] copy = new byte[length];
    memory.get(Layouts.CM_EVENT_PRIVATE, copy);
    return ByteBuffer.wrap(copy);
  }

  /** The event in words. */
  String text() {
    return Verbs.describe(type(), memory.getInt(Layouts.CM_EVENT_STATUS));
  }

  /** The kind of end, if this event is the end of an established connection; otherwise null. */
  String endOfConnection() {
    switch (type()) {
      case Layouts.CM_DISCONNECTED:
        return "closed by the peer";
      case Layouts.CM_DEVICE_REMOVAL:
      case Layouts.CM_CONNECT_ERROR:
      case Layouts.CM_UNREACHABLE:
      case Layouts.CM_REJECTED:
        return text();
      default:
        return null;
    }
  }
}
