/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.DrainAction;
import io.crail.protocol.part.DrainStanding;
import java.util.UUID;

/**
 * Takes a datanode out of use so that its data can be moved, brings it back, or asks how far that
 * is. It names the process, not its address, so that no successor is meant; or the bytes that it
 * keeps, so that its next process is meant, too. A namenode remembers a datanode that it has let go
 * as long as the process sends signs of life, and a little longer.
 */
public final class DrainDatanode {
  private DrainDatanode() {}

  /**
   * The request.
   *
   * @param uuidHigh identity of the datanode process, or of the bytes that it keeps, upper half
   * @param uuidLow the lower half
   * @param action what to do
   */
  public record Request(long uuidHigh, long uuidLow, DrainAction action) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DrainDatanode.Request")
            .i64("uuidHigh", "identity of the process, or of the bytes it keeps, upper half")
            .i64("uuidLow", "identity of the process, or of the bytes it keeps, lower half")
            .struct("action", DrainAction.CODEC, "what to do");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer: how the datanode stands after the action.
   *
   * @param datanode its id at this namenode; -1 where it is unknown
   * @param keeperHigh identity of the bytes that it keeps, upper half; 0 for none
   * @param keeperLow the lower half
   * @param standing how far its drain is
   * @param usedBytes bytes that belong to nodes
   * @param waitingBytes bytes that wait for the end of leases
   * @param drainMillis for how long it has given out no more space; 0 when it does
   */
  public record Response(
      int datanode,
      long keeperHigh,
      long keeperLow,
      DrainStanding standing,
      long usedBytes,
      long waitingBytes,
      long drainMillis) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("DrainDatanode.Response")
            .i32("datanode", "datanode id at this namenode; -1 where it is unknown")
            .i64("keeperHigh", "identity of the bytes that it keeps, upper half; 0 for none")
            .i64("keeperLow", "identity of the bytes that it keeps, lower half")
            .struct("standing", DrainStanding.CODEC, "how far its drain is")
            .i64("usedBytes", "bytes that belong to nodes")
            .i64("waitingBytes", "bytes that wait for the end of leases")
            .i64("drainMillis", "time since it gives out no more space; 0 when it does");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    /** The identity of the bytes that it keeps. */
    public UUID keeper() {
      return new UUID(keeperHigh, keeperLow);
    }
  }
}
