/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Independent;
import io.crail.protocol.codec.Layout;
import java.util.List;

/**
 * The request reports to the namenode that a datanode is alive. The answer names the clients that
 * the datanode must cut off: it ends whatever they have begun there, so that none of it changes a
 * byte from then on. The answer stays the same until the datanode has confirmed it.
 */
public final class KeepAlive {
  /** Most clients that an answer names. */
  public static final int MAX_CLIENTS = 1024;

  private KeepAlive() {}

  /**
   * The request.
   *
   * @param datanode datanode id
   * @param start as in {@link RegisterDatanode.Request}; a namenode that knows another one has the
   *     datanode register again
   * @param impaired whether the datanode itself does not reach a part of its space for now, such as
   *     what is behind a target that is lost: new data go elsewhere if there is room
   * @param cutOff number of the last answer whose clients have been cut off; 0 for none
   * @param heard number of the last answer that has arrived; 0 for none. It proves that this
   *     request was sent after that answer
   * @param readBytes bytes that clients have read from the datanode since its start; -1 if it does
   *     not see them
   * @param writtenBytes the same for bytes that they have written
   */
  public record Request(
      int datanode,
      long start,
      boolean impaired,
      long cutOff,
      long heard,
      long readBytes,
      long writtenBytes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Request")
            .i32("datanode", "datanode id")
            .i64("start", "how many processes have had its bytes; 0 if it keeps none")
            .u8("impaired", "whether it does not reach a part of its space for now; 0 or 1")
            .i64("cutOff", "number of the last answer whose clients are cut off; 0 for none")
            .i64("heard", "number of the last answer that has arrived; 0 for none")
            .i64("readBytes", "bytes that clients have read since its start; -1 if not counted")
            .i64("writtenBytes", "bytes that clients have written; -1 if not counted");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** That of a datanode which keeps nothing. */
    public Request(
        int datanode,
        boolean impaired,
        long cutOff,
        long heard,
        long readBytes,
        long writtenBytes) {
      this(datanode, 0, impaired, cutOff, heard, readBytes, writtenBytes);
    }
  }

  /**
   * The answer.
   *
   * @param stop whether the datanode has been removed and may end
   * @param draining whether the datanode is being removed: it gets no new data
   * @param freeBlocks its blocks that are completely free at this namenode
   * @param totalBlocks its blocks at this namenode
   * @param number number of this answer; a new one once the datanode has heard of the last one
   * @param cutOff number of this list of clients, larger than the numbers of earlier lists; 0 when
   *     the list is empty
   * @param clients the clients to cut off
   */
  public record Response(
      boolean stop,
      boolean draining,
      long freeBlocks,
      long totalBlocks,
      long number,
      long cutOff,
      List<Long> clients)
      implements Independent {
    private static final Codec<Long> CLIENT = Codec.ofLong("Client id", "id", "client id");

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("KeepAlive.Response")
            .u8("stop", "whether the datanode has been removed and may end; 0 or 1")
            .u8("draining", "whether it is being removed; 0 or 1")
            .i64("freeBlocks", "its blocks that are wholly free at this namenode")
            .i64("totalBlocks", "its blocks at this namenode")
            .i64("number", "number of this answer; the last one plus 1 once that was heard")
            .i64("cutOff", "number of this answer's clients; 0 when there are none")
            .u16("clientCount", "number of clients")
            .list("clients", "clientCount", CLIENT, MAX_CLIENTS);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    @Override
    public boolean isIndependent() {
      // A datanode must not end, nor cut off a writer, for what may be lost.
      return !stop && !draining && clients.isEmpty();
    }
  }
}
