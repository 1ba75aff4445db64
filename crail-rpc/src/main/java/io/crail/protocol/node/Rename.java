/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.SpreadPath;
import java.util.function.UnaryOperator;

/**
 * Moves a node to another name, atomically for every reader. If the target exists, the request is
 * refused, or replaces the target in the same step if it asks for that.
 */
public final class Rename {
  private Rename() {}

  /**
   * The request.
   *
   * @param replace whether the node replaces one at the target: a node with bytes replaces another,
   *     and a container replaces an empty one of its type
   * @param source present path
   * @param target new path
   */
  public record Request(boolean replace, Utf8 source, Utf8 target) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Rename.Request")
            .u8("replace", "whether it takes the place of a node at the target; 0 or 1")
            .u16("sourceLength", "bytes of source")
            .u16("targetLength", "bytes of target")
            .bytes("source", "sourceLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING)
            .bytes("target", "targetLength", 1, SpreadPath.MAX_LENGTH, "new path, in such a form");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its paths in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(replace, form.apply(source), form.apply(target));
    }
  }

  /**
   * The answer.
   *
   * @param node the node
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Rename.Response").struct("node", NodeInfo.CODEC);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
