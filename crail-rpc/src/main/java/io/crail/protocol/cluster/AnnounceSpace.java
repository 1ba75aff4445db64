/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * Says that somebody starts datanodes of a storage class when its space runs out. As long as that
 * holds, writers that find no space wait for it. It ends by itself, so it is said again and again.
 */
public final class AnnounceSpace {
  /** Most milliseconds for which it holds. */
  public static final int MAX_MILLIS = 600_000;

  private AnnounceSpace() {}

  /**
   * The request.
   *
   * @param storageClass the class that grows
   * @param millis for how long this holds; 0 takes it back
   */
  public record Request(int storageClass, int millis) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AnnounceSpace.Request")
            .i32("storageClass", "the class that grows")
            .i32("millis", "for how many milliseconds this holds; 0 takes it back");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * The answer.
   *
   * @param storageClass the same class
   */
  public record Response(int storageClass) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("AnnounceSpace.Response").i32("storageClass", "the same class");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
