/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Lets the fuzzer in, which is in another package. */
public final class DarpcDoor {
  private DarpcDoor() {}

  /**
   * What a peer has announced: message size and receive requests; null when it is not one of ours.
   */
  public static int[] greeting(ByteBuffer data) throws CrailException {
    Greeting greeting = Greeting.decode(data);
    return greeting == null ? null : new int[] {greeting.messageSize(), greeting.receives()};
  }

  /** The bytes of a greeting. */
  public static ByteBuffer greeting(int messageSize, int receives) {
    return new Greeting(messageSize, receives).encode();
  }

  /** The bytes of a refusal. */
  public static ByteBuffer refusal(String why) {
    return Greeting.refusal(why);
  }

  /** The sentence of a refusal. */
  public static String reason(ByteBuffer data) {
    return Greeting.reason(data);
  }

  /** Puts requests together. */
  public static final class Pieces {
    private final List<byte[]> frames = new ArrayList<>();
    private final SendChunk.Pool pool =
        new SendChunk.Pool(
            () -> new SendChunk(ByteBuffer.allocateDirect(SendChunk.CAPACITY), 0, 0, () -> {}));
    private final Incoming incoming;
    private boolean wanted = true;

    /** Begins; {@code spans} says whether a frame may go over several messages. */
    public Pieces(boolean spans) {
      incoming = new Incoming(pool, Frame.KIND_REQUEST, spans, new Frames());
    }

    /** Takes all frames; while it is to pause, those that were put together not at once. */
    private final class Frames implements Incoming.Sink {
      private boolean declined;

      @Override
      public boolean frame(ByteBuffer buffer, int offset, int length) {
        byte[] frame = new byte[length];
        buffer.get(offset, frame);
        frames.add(frame);
        return wanted;
      }

      @Override
      public boolean together(ByteBuffer buffer, int length) {
        declined = !wanted && !declined;
        if (!declined) {
          frame(buffer, 0, length);
        }
        return !declined;
      }
    }

    /** Takes a message; {@code stop} has the taking pause after each frame. */
    public int take(ByteBuffer message, int offset, int length, boolean stop) throws IOException {
      wanted = !stop;
      return incoming.take(message, offset, length);
    }

    /** The whole frames so far. */
    public List<byte[]> frames() {
      return frames;
    }

    /** True when a frame has begun and not ended. */
    public boolean isPartial() {
      return incoming.isPartial();
    }

    /** Pieces of memory in use; none after {@link #close}. */
    public int used() {
      return pool.used();
    }

    /** Ends it. */
    public void close() {
      incoming.close();
    }
  }

  /** One side's account. */
  public static final class Account {
    private final Credits credits;

    /** Opens it. */
    public Account(int ownReceives, int peerReceives) {
      credits = new Credits(ownReceives, peerReceives);
    }

    /** Messages with content that may be sent. */
    public int room() {
      return credits.room();
    }

    /** True when a message without content has to be sent. */
    public boolean owes() {
      return credits.owes();
    }

    /** Counts one that is sent; gives what it returns. */
    public int send() {
      return credits.send();
    }

    /** Counts what one that came returned. */
    public void received(int returned) throws CrailException {
      credits.received(returned);
    }

    /** Counts receive requests that were posted again. */
    public void posted(int count) {
      credits.posted(count);
    }
  }
}
