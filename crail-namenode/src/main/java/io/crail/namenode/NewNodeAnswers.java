/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.tree.Node;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Put;
import io.crail.rpc.ResponseWriter;
import java.nio.ByteBuffer;

/** Writes the answers about a new node without an answer object. Stateless. */
final class NewNodeAnswers {
  private NewNodeAnswers() {}

  /**
   * Answers a create with the node and the first extent of its writer.
   *
   * @param leased whether the creator is the writer; otherwise the extent is another client's
   */
  static void created(Node node, boolean leased, long correlationId, ResponseWriter responses) {
    // Read before the size: so a reader that sees no bytes of a new value sees that the value is
    // being put.
    int flags = node.flags();
    NodeSpace space = node.space();
    boolean hasExtent = leased && isToBeWritten(space);
    int at = Create.Response.LAYOUT.fixedLength();
    int extents = hasExtent ? 1 : 0;
    int extentsLength = NodeSpace.encodedLength(extents);
    int length = at + extentsLength;
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    node.encode(size(space), flags, out, body + Create.Response.NODE);
    out.putShort(body + Create.Response.EXTENTS_COUNT, (short) extents);
    out.putInt(body + Create.Response.EXTENTS_LENGTH, extentsLength);
    if (hasExtent) {
      space.encode(0, 1, Long.MAX_VALUE, out, body + at);
    }
    responses.end(correlationId, length);
  }

  /**
   * Answers a put with the node and the first extent of its writer.
   *
   * @param leased whether the request asked for the lease; otherwise the extent is another client's
   */
  static void put(Node node, boolean leased, long correlationId, ResponseWriter responses) {
    int flags = node.flags();
    NodeSpace space = node.space();
    boolean hasExtent = leased && isToBeWritten(space);
    int at = Put.Response.LAYOUT.fixedLength();
    int extents = hasExtent ? 1 : 0;
    int extentsLength = NodeSpace.encodedLength(extents);
    int length = at + extentsLength;
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    node.encode(size(space), flags, out, body + Put.Response.NODE);
    out.putShort(body + Put.Response.EXTENTS_COUNT, (short) extents);
    out.putInt(body + Put.Response.EXTENTS_LENGTH, extentsLength);
    if (hasExtent) {
      space.encode(0, 1, Long.MAX_VALUE, out, body + at);
    }
    responses.end(correlationId, length);
  }

  private static boolean isToBeWritten(NodeSpace space) {
    return space != null && space.size() == 0 && space.count() > 0;
  }

  private static long size(NodeSpace space) {
    return space == null ? 0 : space.size();
  }
}
