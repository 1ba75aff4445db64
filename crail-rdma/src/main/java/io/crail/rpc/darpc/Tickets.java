/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Plain DaRPC, for a peer that is not Crail's. Each message has one frame, and the header is a
 * ticket that an answer shares with its request. A client has at most as many requests in flight as
 * the server has receive requests, and it posts a receive request for each answer. So nothing else
 * has to be counted. Both sides are configured with the same message size. Not thread-safe, and not
 * a hot path.
 */
final class Tickets extends Dialect {
  private static final int NONE = -1;
  private static final byte[] TOO_LONG =
      "the answer is longer than a message".getBytes(StandardCharsets.US_ASCII);

  /** Requests that a server remembers, as a multiple of those that a peer may have in flight. */
  private static final int MARGIN = 4;

  private final boolean server;
  private final int most;
  private final int maxFrameLength;
  // The tickets of unanswered requests, by their correlation ids.
  private final Map<Long, Integer> tickets = new HashMap<>();
  private int ticket;
  private int length;

  /**
   * Creates the dialect of a connection.
   *
   * @param server true at the server's end
   */
  Tickets(DarpcSettings settings, boolean server) {
    this.server = server;
    this.most = server ? MARGIN * settings.receives() : settings.receives();
    this.maxFrameLength = Math.min(Frame.MAX_LENGTH, settings.messageSize() - HEADER_LENGTH);
  }

  @Override
  int room() {
    return server ? Integer.MAX_VALUE : most - tickets.size();
  }

  @Override
  int cut(ByteBuffer frames, int from, int to) {
    int taken = Frame.length(frames, from);
    long id = Frame.correlationId(frames, from);
    length = taken;
    if (taken > maxFrameLength) {
      // Only an answer can be too long, for the length of a request is checked before.
      int code = ErrorCode.LIMIT_EXCEEDED.number();
      int fits = Math.min(TOO_LONG.length, maxFrameLength - Frame.HEADER_LENGTH);
      length = Frame.HEADER_LENGTH + fits;
      frames.put(from + Frame.HEADER_LENGTH, TOO_LONG, 0, fits);
      Frame.write(frames, from, length, code, Frame.KIND_RESPONSE, id);
    }
    if (server) {
      ticket = Objects.requireNonNullElse(tickets.remove(id), NONE);
    } else {
      ticket = ticket + 1 & Integer.MAX_VALUE;
      tickets.put(id, ticket);
    }
    return taken;
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
  void received(int header, ByteBuffer bytes, int offset, int contentLength) throws CrailException {
    if (contentLength < Frame.HEADER_LENGTH) {
      throw ErrorCode.PROTOCOL.exception(
          "a message of " + contentLength + " bytes without a frame");
    }
    long id = Frame.correlationId(bytes, offset);
    if (server && tickets.size() == most) {
      throw ErrorCode.PROTOCOL.exception("more than " + most + " requests at once");
    }
    if (server && tickets.put(id, header) != null) {
      throw ErrorCode.PROTOCOL.exception("two requests with the correlation id " + id);
    }
    if (!server && tickets.remove(id) == null) {
      throw ErrorCode.PROTOCOL.exception("an answer to no request");
    }
  }

  @Override
  boolean owes() {
    return false;
  }

  @Override
  void posted(int count) {}

  @Override
  boolean spans() {
    return false;
  }

  @Override
  int maxFrameLength() {
    return maxFrameLength;
  }
}
