/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.SpreadPath;
import java.util.function.UnaryOperator;

/** Removes a node, or a whole subtree. */
public final class Remove {
  private Remove() {}

  /**
   * The request.
   *
   * @param recursive whether a container with children is removed too
   * @param id the node that has to be there; 0 for any
   * @param path the path, in the form of NodePath or SpreadPath
   */
  public record Request(boolean recursive, long id, Utf8 path) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Remove.Request")
            .u8("recursive", "whether a container with children is removed too; 0 or 1")
            .i64("id", "the node that has to be there; 0 for any")
            .u16("pathLength", "bytes of path")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(recursive, id, form.apply(path));
    }

    /** Removes whatever is at the path. */
    public Request(boolean recursive, Utf8 path) {
      this(recursive, 0, path);
    }
  }

  /**
   * The answer.
   *
   * @param node the node that was removed
   */
  public record Response(NodeInfo node) {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Remove.Response").struct("node", NodeInfo.CODEC);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
