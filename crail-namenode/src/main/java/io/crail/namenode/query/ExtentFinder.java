/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.query;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.FindExtents;
import io.crail.protocol.node.Locations;
import io.crail.protocol.part.Extent;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.login.Caller;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Answers where bytes lie, straight on the buffers. A reader of a key-value asks with each access,
 * so this is as hot as a lookup. Only committed bytes are shown, since the space after them may
 * still be taken away. Allocates nothing unless a request is refused. Stateless.
 */
public final class ExtentFinder {
  private static final int ID = FindExtents.Request.LAYOUT.offset("id");
  private static final int POSITION = FindExtents.Request.LAYOUT.offset("position");
  private static final int MAX_EXTENTS = FindExtents.Request.LAYOUT.offset("maxExtents");
  private static final int SIZE = FindExtents.Response.LAYOUT.offset("size");
  private static final int COUNT = FindExtents.Response.LAYOUT.offset("extentsCount");
  private static final int EXTENTS_LENGTH = FindExtents.Response.LAYOUT.offset("extentsLength");
  private static final int VALUE_LENGTH = FindExtents.Response.LAYOUT.offset("valueLength");
  private static final int FIXED_LENGTH = FindExtents.Response.LAYOUT.fixedLength();

  private final Tree tree;
  private final Clock clock;

  /**
   * Creates it.
   *
   * @param clock gives the times of accesses that are noted
   */
  public ExtentFinder(Tree tree, Clock clock) {
    this.tree = tree;
    this.clock = clock;
  }

  /**
   * Serves the requests {@code from} (inclusive) to {@code to} (exclusive), as many as answers fit.
   *
   * @param caller who asks
   * @param client counts what is found
   * @throws CrailException with {@link ErrorCode#PROTOCOL} for a malformed request
   */
  public void serve(
      RequestBatch batch,
      int from,
      int to,
      ResponseWriter responses,
      Caller caller,
      ClientActivity client)
      throws CrailException {
    ByteBuffer in = batch.buffer();
    for (int i = from; i < to; i++) {
      if (responses.isFull()) {
        batch.giveBackFrom(i);
        return;
      }
      int body = batch.bodyOffset(i);
      FindExtents.Request.LAYOUT.check(in, body, batch.bodyLength(i));
      try {
        while (!tryRespond(batch.correlationId(i), in, body, responses, client)) {
          // The value has made room for another one, or the node is gone.
          Thread.onSpinWait();
        }
      } catch (CrailException e) {
        responses.fail(batch.correlationId(i), e.code(), e.detail());
      }
    }
  }

  /** Answers a request; false when the value was given up meanwhile. */
  private boolean tryRespond(
      long correlationId,
      ByteBuffer in,
      int request,
      ResponseWriter responses,
      ClientActivity client)
      throws CrailException {
    Node node = tree.require(in.getLong(request + ID));
    long position = in.getLong(request + POSITION);
    if (position < 0) {
      throw ErrorCode.OUT_OF_RANGE.exception(node + ": position " + position);
    }
    int most = Math.min(in.getShort(request + MAX_EXTENTS) & 0xffff, FindExtents.MAX_EXTENTS);
    NodeSpace space = node.space();
    long size = space == null ? 0 : space.size();
    SmallBytes small = space == null || most == 0 ? null : space.small();
    int smallLength = small == null ? 0 : small.length();
    int first = 0;
    int count = 0;
    if (space != null && space.small() == null && position < size) {
      first = space.indexOf(position);
      count = Math.min(most, end(space, size) - first);
    }
    int extentsLength = NodeSpace.encodedLength(count);
    int length = FIXED_LENGTH + extentsLength + smallLength;
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    out.putLong(body + SIZE, size);
    out.putShort(body + COUNT, (short) count);
    out.putInt(body + EXTENTS_LENGTH, extentsLength);
    out.putInt(body + VALUE_LENGTH, smallLength);
    long located = smallLength;
    if (count > 0) {
      space.encode(first, first + count, size, out, body + FIXED_LENGTH);
      located = Math.min(size, space.at(first + count - 1).fileEnd()) - position;
    } else if (small != null && !small.copyTo(out, body + FIXED_LENGTH)) {
      return false;
    }
    responses.end(correlationId, length);
    client.located(node.id(), located);
    if (node.hasExtras()) {
      tree.extras().accessed(node, clock);
    }
    return true;
  }

  /**
   * The committed extents of a range. A small value has none.
   *
   * @param caller who asks
   */
  public Locations.Response locations(Locations.Request request, Caller caller)
      throws CrailException {
    Node node = tree.require(request.id());
    if (request.position() < 0 || request.length() < 0) {
      throw ErrorCode.OUT_OF_RANGE.exception(
          node + ": " + request.length() + " bytes from " + request.position());
    }
    NodeSpace space = node.space();
    long size = space == null ? 0 : space.size();
    long end = Math.min(size, request.position() + Math.min(request.length(), size));
    if (space == null || space.small() != null || request.position() >= end) {
      return new Locations.Response(size, List.of());
    }
    int from = space.indexOf(request.position());
    int to = Math.min(end(space, end), from + Locations.MAX_EXTENTS);
    List<Extent> extents = new ArrayList<>(to - from);
    for (int i = from; i < to; i++) {
      extents.add(space.at(i).extentBefore(size));
    }
    return new Locations.Response(size, extents);
  }

  /** The index after the last extent that holds a byte before {@code end}, which is above 0. */
  private static int end(NodeSpace space, long end) {
    return Math.min(space.indexOf(end - 1) + 1, space.count());
  }
}
