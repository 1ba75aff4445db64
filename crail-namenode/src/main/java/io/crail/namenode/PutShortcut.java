/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.SmallPut;
import io.crail.protocol.node.Create;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import java.nio.ByteBuffer;

/**
 * Puts small values straight from the request bytes, so that a put allocates what the namenode
 * keeps and nothing else. Whatever is unusual about a create, be it only that it will fail, is left
 * to the general way ({@link NameNode#create}), before anything is done.
 *
 * <p>Belongs to one connection; not thread-safe.
 */
final class PutShortcut {
  private final NameNode namenode;
  private final SmallPut put;

  PutShortcut(NameNode namenode) {
    this.namenode = namenode;
    this.put = new SmallPut(namenode.options());
  }

  /**
   * Serves a request, if it is usual.
   *
   * @param user whom the node belongs to
   * @return false when it was not, and nothing is done
   * @throws CrailException with {@link ErrorCode#PROTOCOL} for a request that is none
   */
  boolean serve(RequestBatch batch, int request, ResponseWriter responses, SessionUser user)
      throws CrailException {
    if (!user.isNumbered() || !put.read(batch, request)) {
      return false;
    }
    Node node = namenode.tree().putSmall(put, user.number());
    if (node == null) {
      return false;
    }
    respond(node, batch.correlationId(request), responses);
    return true;
  }

  private void respond(Node node, long correlationId, ResponseWriter responses) {
    int length = Create.Response.LAYOUT.fixedLength();
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    node.encode(put.valueLength(), node.flags(), out, body + Create.Response.NODE);
    out.putShort(body + Create.Response.EXTENTS_COUNT, (short) 0);
    out.putShort(body + Create.Response.GIVEN_COUNT, (short) 0);
    responses.end(correlationId, length);
  }
}
