/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.NodeInfo;

/** Makes written bytes visible to readers; may end the write lease. */
public final class SetSize {
  /** Close: the write lease continues. */
  public static final int KEEP = 0;

  /**
   * Close: the write lease ends now; all writes have been acknowledged. If the node was removed or
   * replaced, the answer is an error that says so, but its space becomes free at once.
   */
  public static final int END = 1;

  /**
   * Close: the write lease is not renewed any more and runs out. For a writer whose write has
   * failed and may still be on its way.
   */
  public static final int EXPIRE = 2;

  private SetSize() {}

  /**
   * The request.
   *
   * @param id node id
   * @param token the write lease
   * @param size new size; a size below the present one changes nothing
   * @param close what happens to the write lease: {@link #KEEP}, {@link #END} or {@link #EXPIRE}
   * @param value with {@link #END}: all bytes of a small value or file, as many as its size; they
   *     replace its present bytes
   */
  public record Request(long id, long token, long size, int close, SmallValue value) {
    /** Creates a request without a value. */
    public Request(long id, long token, long size, int close) {
      this(id, token, size, close, SmallValue.NONE);
    }

    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetSize.Request")
            .i64("id", "node id")
            .i64("token", "the write lease")
            .i64("size", "new size; one below the present size changes nothing")
            .u8("close", "what becomes of the write lease: KEEP, END or EXPIRE")
            .i32("valueLength", "bytes of value")
            .bytes(
                "value",
                "valueLength",
                0,
                SmallValue.MAX_LENGTH,
                "with END: all bytes of a small value or file");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param node the node after the change
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("SetSize.Response").struct("node", NodeInfo.CODEC);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
