/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Create;
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
final class PutBatch {
  private final NameNode namenode;
  private final SmallPut put;

  PutBatch(NameNode namenode) {
    this.namenode = namenode;
    this.put = new SmallPut(namenode.options());
  }

  /**
   * Serves the first ones of the requests {@code from} (inclusive) to {@code to} (exclusive).
   *
   * @param user whom the nodes belong to
   * @return how many were served
   * @throws CrailException with {@link ErrorCode#PROTOCOL} for a request that is none
   */
  int serve(RequestBatch batch, int from, int to, ResponseWriter responses, SessionUser user)
      throws CrailException {
    int request = from;
    while (request < to) {
      Node node =
          user.isNumbered() && put.read(batch, request)
              ? namenode.tree().putSmall(put, user.number())
              : null;
      if (node == null) {
        break;
      }
      respond(node, batch.correlationId(request), responses);
      request++;
    }
    return request - from;
  }

  private void respond(Node node, long correlationId, ResponseWriter responses) {
    int length = Create.Response.LAYOUT.fixedLength();
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    node.encode(put.valueLength(), out, body + Create.Response.NODE);
    out.putShort(body + Create.Response.EXTENTS_COUNT, (short) 0);
    responses.end(correlationId, length);
  }
}
