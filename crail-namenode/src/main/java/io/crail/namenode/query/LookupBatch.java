/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.query;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.name.NameHash;
import io.crail.namenode.name.NodeName;
import io.crail.namenode.name.PathBytes;
import io.crail.namenode.space.NodeSpace;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.namenode.tree.Container;
import io.crail.namenode.tree.NameTable;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.NodeTable;
import io.crail.namenode.tree.RenameSequence;
import io.crail.namenode.tree.Tree;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.SpreadPath;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.login.Caller;
import java.nio.ByteBuffer;

/**
 * Looks up many paths at once, straight from the request bytes. A lookup's cost is its cache
 * misses: the slot of the table, then the node. So each step is done for a whole group of paths
 * before the next step begins, and the misses of the group overlap: hash all names, load all slots,
 * touch all nodes, compare all names. Deep paths repeat this for each level. This is four times as
 * fast as one path at a time.
 *
 * <p>Allocates nothing unless a lookup fails. Belongs to one connection; not thread-safe.
 */
public final class LookupBatch {
  /** Paths in a group: enough to overlap, few enough for the first-level cache. */
  static final int GROUP = 32;

  private static final int COUNT_LENGTH = Short.BYTES;

  private final Tree tree;
  private final int index;
  private final int namenodeCount;
  private final ClientActivity client;
  private final Clock clock;

  private final int[] pathStart = new int[GROUP];
  private final int[] pathEnd = new int[GROUP];
  private final int[] nameStart = new int[GROUP];
  private final int[] nameEnd = new int[GROUP];
  private final long[] word0 = new long[GROUP];
  private final long[] word1 = new long[GROUP];
  private final long[] word2 = new long[GROUP];
  private final long[] hash = new long[GROUP];
  private final Container[] parent = new Container[GROUP];
  private final Node[][] slots = new Node[GROUP][];
  private final int[] slot = new int[GROUP];
  private final Node[] node = new Node[GROUP];
  // Members of the group that are still searched at this level, and those that continue at the next
  // one.
  private final int[] searched = new int[GROUP];
  private final int[] deeper = new int[GROUP];
  // Written, so that the touching loads are not optimized away.
  private int touched;

  /**
   * Creates the scratch memory of a connection.
   *
   * @param client counts what is found
   * @param clock gives the times of accesses that are noted
   */
  public LookupBatch(Tree tree, int index, int namenodeCount, ClientActivity client, Clock clock) {
    this.clock = clock;
    this.tree = tree;
    this.index = index;
    this.namenodeCount = namenodeCount;
    this.client = client;
  }

  /**
   * Serves the requests {@code from} (inclusive) to {@code to} (exclusive), as many as answers fit.
   *
   * @param caller who asks
   * @throws CrailException with {@link ErrorCode#PROTOCOL} for a malformed request
   */
  public void serve(RequestBatch batch, int from, int to, ResponseWriter responses, Caller caller)
      throws CrailException {
    for (int first = from; first < to; first += GROUP) {
      int count = Math.min(GROUP, to - first);
      for (int i = 0; i < count; i++) {
        readRequest(batch, first + i, i);
      }
      resolve(batch.buffer(), count);
      touchSpace(count);
      for (int i = 0; i < count; i++) {
        if (responses.isFull()) {
          batch.giveBackFrom(first + i);
          return;
        }
        respond(batch, first + i, i, count, responses);
      }
    }
  }

  private void readRequest(RequestBatch batch, int request, int i) throws CrailException {
    ByteBuffer in = batch.buffer();
    int body = batch.bodyOffset(request);
    int bodyLength = batch.bodyLength(request);
    int length =
        bodyLength < COUNT_LENGTH ? 0 : in.getShort(body + Lookup.Request.PATH_LENGTH) & 0xffff;
    if (length == 0 || length > SpreadPath.MAX_LENGTH || bodyLength != COUNT_LENGTH + length) {
      Lookup.Request.LAYOUT.check(in, body, bodyLength);
    }
    pathStart[i] = body + COUNT_LENGTH;
    pathEnd[i] = body + COUNT_LENGTH + length;
  }

  /** Finds the node of each path, or null. Atomic against renames. */
  private void resolve(ByteBuffer in, int count) {
    RenameSequence renames = tree.renames();
    for (int i = 0; i < RenameSequence.ATTEMPTS; i++) {
      long before = renames.read();
      walk(in, count);
      if (renames.isUnchanged(before)) {
        return;
      }
      Thread.onSpinWait();
    }
    renames.lock();
    try {
      walk(in, count);
    } finally {
      renames.unlock();
    }
  }

  private void walk(ByteBuffer in, int count) {
    int searchedCount = 0;
    for (int i = 0; i < count; i++) {
      node[i] = null;
      if (in.get(pathStart[i]) == 0) {
        if (beginAtSpread(in, i)) {
          searched[searchedCount++] = i;
        }
      } else if (in.get(pathStart[i]) == '/') {
        if (pathEnd[i] - pathStart[i] == 1) {
          node[i] = tree.root();
        } else {
          parent[i] = tree.root();
          nameStart[i] = pathStart[i] + 1;
          searched[searchedCount++] = i;
        }
      }
    }
    while (searchedCount > 0) {
      hashNames(in, searchedCount);
      int deeperCount = 0;
      while (searchedCount > 0) {
        loadSlots(searchedCount);
        touchNodes(searchedCount);
        int left = 0;
        for (int j = 0; j < searchedCount; j++) {
          int i = searched[j];
          Node candidate = node[i];
          if (candidate == null) {
            continue;
          }
          if (!isMatch(candidate, in, i)) {
            slot[i] = NodeTable.nextIndex(slots[i], slot[i]);
            searched[left++] = i;
          } else if (nameEnd[i] < pathEnd[i]) {
            node[i] = null;
            if (candidate instanceof Container) {
              parent[i] = (Container) candidate;
              nameStart[i] = nameEnd[i] + 1;
              deeper[deeperCount++] = i;
            }
          }
        }
        searchedCount = left;
      }
      System.arraycopy(deeper, 0, searched, 0, deeperCount);
      searchedCount = deeperCount;
    }
  }

  /** Begins a walk at a spread directory. Returns false when there is no way to go. */
  private boolean beginAtSpread(ByteBuffer in, int i) {
    int text = pathStart[i] + SpreadPath.HEADER_LENGTH;
    if (!SpreadPath.isGood(in, pathStart[i], pathEnd[i] - pathStart[i])) {
      return false;
    }
    long id = SpreadPath.id(in, pathStart[i]);
    int start = text + SpreadPath.prefix(in, pathStart[i]) + 1;
    if (start > pathEnd[i]) {
      node[i] = tree.shareOf(id);
      return false;
    }
    parent[i] = tree.spreadOf(id);
    nameStart[i] = start;
    return parent[i] != null;
  }

  private void hashNames(ByteBuffer in, int count) {
    NameTable names = tree.names();
    NameHash hasher = names.hash();
    for (int j = 0; j < count; j++) {
      int i = searched[j];
      int start = nameStart[i];
      int end = NodeName.endOfComponent(in, start, pathEnd[i]);
      int length = end - start;
      nameEnd[i] = end;
      long key;
      if (length <= NodeName.INLINE_LENGTH) {
        word0[i] = NodeName.word(in, start, end);
        word1[i] = NodeName.word(in, start + 8, end);
        word2[i] = NodeName.word(in, start + 16, end);
        key = hasher.of(parent[i].id(), word0[i], word1[i], word2[i], length);
      } else {
        key = hasher.of(parent[i].id(), in, start, end);
      }
      hash[i] = key;
    }
    for (int j = 0; j < count; j++) {
      int i = searched[j];
      slots[i] = names.slots(hash[i]);
      slot[i] = NodeTable.firstIndex(slots[i], hash[i]);
    }
  }

  private void loadSlots(int count) {
    for (int j = 0; j < count; j++) {
      int i = searched[j];
      node[i] = NodeTable.at(slots[i], slot[i]);
    }
  }

  private void touchNodes(int count) {
    int sum = 0;
    for (int j = 0; j < count; j++) {
      Node candidate = node[searched[j]];
      if (candidate != null) {
        sum += candidate.touchedFields();
      }
    }
    touched = sum;
  }

  private boolean isMatch(Node candidate, ByteBuffer in, int i) {
    int length = nameEnd[i] - nameStart[i];
    return length <= NodeName.INLINE_LENGTH
        ? candidate.isNamed(parent[i], word0[i], word1[i], word2[i], length)
        : candidate.isNamed(parent[i], in, nameStart[i], nameEnd[i]);
  }

  private void touchSpace(int count) {
    int sum = touched;
    for (int i = 0; i < count; i++) {
      NodeSpace space = node[i] == null ? null : node[i].space();
      if (space != null) {
        sum += space.count();
      }
    }
    touched = sum;
  }

  private void respond(
      RequestBatch batch, int request, int i, int count, ResponseWriter responses) {
    long correlationId = batch.correlationId(request);
    while (node[i] != null) {
      if (tryRespond(correlationId, i, responses)) {
        return;
      }
      // The value has made room for the next one, which can be found by now.
      resolve(batch.buffer(), count);
    }
    refuse(batch.buffer(), correlationId, i, responses);
  }

  /** Answers with a node that was found; false when its value was given up meanwhile. */
  private boolean tryRespond(long correlationId, int i, ResponseWriter responses) {
    Node found = node[i];
    int flags = found.flags();
    NodeSpace space = found.space();
    long size = space == null ? 0 : space.size();
    SmallBytes small = space == null ? null : space.small();
    int smallLength = small == null ? 0 : small.length();
    int extents = space == null || small != null ? 0 : visible(size, space);
    int tails = Lookup.Response.LAYOUT.fixedLength();
    int extentsLength = NodeSpace.encodedLength(extents);
    int length = tails + extentsLength + smallLength;
    int body = responses.begin(length);
    ByteBuffer out = responses.buffer();
    found.encode(size, flags, out, body + Lookup.Response.NODE);
    out.putShort(body + Lookup.Response.EXTENTS_COUNT, (short) extents);
    out.putInt(body + Lookup.Response.EXTENTS_LENGTH, extentsLength);
    out.putInt(body + Lookup.Response.VALUE_LENGTH, smallLength);
    long located = smallLength;
    if (extents > 0) {
      space.encode(0, extents, size, out, body + tails);
      located = Math.min(size, space.at(extents - 1).fileEnd());
    } else if (small != null && !small.copyTo(out, body + tails)) {
      return false;
    }
    responses.end(correlationId, length);
    client.located(found.id(), located);
    if (found.hasExtras()) {
      tree.extras().accessed(found, clock);
    }
    return true;
  }

  /** The number of extents that hold committed bytes and fit into an answer. */
  private static int visible(long size, NodeSpace space) {
    int count = 0;
    int most = Math.min(space.count(), Lookup.MAX_EXTENTS);
    while (count < most && space.at(count).fileOffset() < size) {
      count++;
    }
    return count;
  }

  /** Finds out why there is no node. The rules of a path are checked only now. */
  private void refuse(ByteBuffer in, long correlationId, int i, ResponseWriter responses) {
    int length = pathEnd[i] - pathStart[i];
    Utf8 copy = Utf8.copyOf(in, pathStart[i], length);
    CrailException why;
    try {
      PathBytes path = PathBytes.of(copy);
      why =
          path.isRoot() || path.isSpreadItself() || path.namenode(namenodeCount) == index
              ? tree.absent(path, ErrorCode.NODE_NOT_FOUND)
              : ErrorCode.WRONG_NAMENODE.exception(path.toString());
    } catch (CrailException e) {
      why = e;
    }
    responses.fail(correlationId, why.code(), why.detail());
  }
}
