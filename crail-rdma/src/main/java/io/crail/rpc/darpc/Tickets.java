/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Plain DaRPC, for a peer that is not Crail's. Each message has one frame, and the header is a
 * ticket that an answer shares with its request. A client has at most as many requests in flight as
 * the server has receive requests, and it posts a receive request for each answer. So nothing else
 * has to be counted. Both sides are configured with the same message size. Not thread-safe.
 */
abstract class Tickets extends Dialect {
  private final int maxFrameLength;

  private Tickets(int messageSize) {
    this.maxFrameLength = Math.min(Frame.MAX_LENGTH, messageSize - HEADER_LENGTH);
  }

  @Override
  final boolean owes() {
    return false;
  }

  @Override
  final void posted(int count) {}

  @Override
  final boolean spans() {
    return false;
  }

  @Override
  final int maxFrameLength() {
    return maxFrameLength;
  }

  /** The client's side: any ticket will do, since the correlation ids identify the answers. */
  static final class Client extends Tickets {
    private final int most;
    private int underway;
    private int ticket;
    private int length;

    /**
     * Creates the dialect of a connection.
     *
     * @param most the most requests in flight
     */
    Client(int messageSize, int most) {
      super(messageSize);
      this.most = most;
    }

    @Override
    int room() {
      return most - underway;
    }

    @Override
    int cut(ByteBuffer frames, int from, int to) {
      length = Frame.length(frames, from);
      return length;
    }

    @Override
    int contentLength() {
      return length;
    }

    @Override
    int send() {
      underway++;
      ticket = ticket + 1 & Integer.MAX_VALUE;
      return ticket;
    }

    @Override
    void received(int header, ByteBuffer bytes, int offset, int contentLength)
        throws CrailException {
      if (underway == 0) {
        throw ErrorCode.PROTOCOL.exception("an answer to no request");
      }
      underway--;
    }
  }

  /** The server's side: remembers the tickets of requests that have not been answered. */
  static final class Server extends Tickets {
    private static final byte[] TOO_LONG =
        "the answer is longer than a message".getBytes(StandardCharsets.US_ASCII);

    private final long[] correlationIds;
    private final int[] tickets;
    private final boolean[] open;
    private int next;
    private int length;
    private int ticket;

    /**
     * Creates the dialect of a connection.
     *
     * @param most the most requests that are remembered; with more, some are not answered
     */
    Server(int messageSize, int most) {
      super(messageSize);
      this.correlationIds = new long[most];
      this.tickets = new int[most];
      this.open = new boolean[most];
    }

    @Override
    int room() {
      return Integer.MAX_VALUE;
    }

    @Override
    int cut(ByteBuffer frames, int from, int to) {
      int taken = Frame.length(frames, from);
      long correlationId = Frame.correlationId(frames, from);
      length = taken;
      if (taken > maxFrameLength()) {
        int fits = Math.min(TOO_LONG.length, maxFrameLength() - Frame.HEADER_LENGTH);
        length = Frame.HEADER_LENGTH + fits;
        frames.put(from + Frame.HEADER_LENGTH, TOO_LONG, 0, fits);
        Frame.write(
            frames,
            from,
            length,
            ErrorCode.LIMIT_EXCEEDED.number(),
            Frame.KIND_RESPONSE,
            correlationId);
      }
      ticket = ticketOf(correlationId);
      return taken;
    }

    private int ticketOf(long correlationId) {
      // The oldest request is the most likely.
      for (int i = 0; i < open.length; i++) {
        int at = (next + i) % open.length;
        if (open[at] && correlationIds[at] == correlationId) {
          open[at] = false;
          return tickets[at];
        }
      }
      return -1;
    }

    @Override
    int contentLength() {
      return length;
    }

    @Override
    int send() {
      return ticket;
    }

    @Override
    void received(int header, ByteBuffer bytes, int offset, int contentLength) {
      if (contentLength >= Frame.HEADER_LENGTH) {
        // Does not overwrite a request whose answer is held, as long as there is a free place.
        for (int i = 0; i < open.length && open[next]; i++) {
          next = (next + 1) % open.length;
        }
        correlationIds[next] = Frame.correlationId(bytes, offset);
        tickets[next] = header;
        open[next] = true;
        next = (next + 1) % open.length;
      }
    }
  }
}
