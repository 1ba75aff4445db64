/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.tree;

import java.util.Arrays;

/**
 * The children of one container in the order in which they came. Each has a sequence number, and
 * cursors are sequence numbers. So a listing can continue where it stopped, no matter what was
 * added or removed in the meantime.
 *
 * <p>A sorted list of sorted chunks. Appending changes only the last chunk, and removing moves at
 * most the references of one chunk. Chunks that have become small are merged, so no empty ones
 * remain. Four bytes a child in a large container. Not thread-safe: used under the container's
 * monitor.
 */
public final class ChildList {
  /** References in a full chunk. */
  static final int CHUNK_CAPACITY = 256;

  private static final int SMALL_CHUNK = CHUNK_CAPACITY / 4;
  private static final int FIRST_CAPACITY = Node.FIRST_CHILDREN;
  private static final Node[] EMPTY = {};

  private static final class Chunk {
    private Node[] nodes;
    private int count;
    private long firstSequence;

    /** The index of the first child whose sequence is not below {@code sequence}. */
    int indexOf(long sequence) {
      int low = 0;
      int high = count;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (nodes[middle].sequence() < sequence) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      return low;
    }
  }

  // A small container keeps its nodes in this array, without a chunk.
  private Node[] few = EMPTY;
  private Chunk[] chunks;
  private int chunkCount;
  private int size;
  private long nextSequence = 1;

  /** The number of children. */
  int size() {
    return size;
  }

  /** The sequence number of the next child that is appended. */
  long nextSequence() {
    return nextSequence;
  }

  /** Sets the sequence number of the next child, which must not be below that of a child. */
  void nextSequence(long sequence) {
    nextSequence = sequence;
  }

  /** Appends a child, whose sequence is {@link #nextSequence()}. */
  void append(Node child) {
    if (child.sequence() != nextSequence) {
      throw new AssertionError("sequence " + child.sequence() + ", not " + nextSequence);
    }
    nextSequence++;
    if (chunks == null) {
      if (size < CHUNK_CAPACITY) {
        if (size == few.length) {
          few = Arrays.copyOf(few, Math.min(CHUNK_CAPACITY, Math.max(FIRST_CAPACITY, size * 2)));
        }
        few[size++] = child;
        return;
      }
      toChunks();
    }
    Chunk last = chunkCount == 0 ? null : chunks[chunkCount - 1];
    if (last == null || last.count == CHUNK_CAPACITY) {
      last = new Chunk();
      last.nodes = new Node[CHUNK_CAPACITY];
      last.firstSequence = child.sequence();
      if (chunkCount == chunks.length) {
        chunks = Arrays.copyOf(chunks, chunkCount + (chunkCount >> 1) + 1);
      }
      chunks[chunkCount++] = last;
    }
    last.nodes[last.count++] = child;
    size++;
  }

  /** Puts a child in the place of another that has the same sequence. */
  void replace(Node old, Node replacement) {
    Node[] nodes = few;
    int index;
    if (chunks == null) {
      index = indexOfFew(old.sequence());
    } else {
      Chunk chunk = chunks[chunkOf(old.sequence())];
      nodes = chunk.nodes;
      index = chunk.indexOf(old.sequence());
    }
    if (nodes[index] != old || replacement.sequence() != old.sequence()) {
      throw new AssertionError("not a child, or of another sequence");
    }
    nodes[index] = replacement;
  }

  /** Removes a child. */
  void remove(Node child) {
    if (chunks == null) {
      int index = indexOfFew(child.sequence());
      if (index >= size || few[index] != child) {
        throw new AssertionError("not a child");
      }
      System.arraycopy(few, index + 1, few, index, --size - index);
      few[size] = null;
      shrinkFew();
      return;
    }
    int at = chunkOf(child.sequence());
    Chunk chunk = chunks[at];
    int index = chunk.indexOf(child.sequence());
    if (index >= chunk.count || chunk.nodes[index] != child) {
      throw new AssertionError("not a child");
    }
    System.arraycopy(chunk.nodes, index + 1, chunk.nodes, index, --chunk.count - index);
    chunk.nodes[chunk.count] = null;
    size--;
    compact(at);
  }

  /** Removes the last child; null when there is none. */
  Node removeLast() {
    if (size == 0) {
      return null;
    }
    Node last;
    if (chunks == null) {
      last = few[size - 1];
    } else {
      Chunk chunk = chunks[chunkCount - 1];
      last = chunk.nodes[chunk.count - 1];
    }
    remove(last);
    return last;
  }

  /** Receives the children of a listing. */
  public interface Visitor {
    /** Takes a child. Returns false when the child must be the first of the next page. */
    boolean visit(Node child);
  }

  /**
   * Visits the children whose sequence is not below {@code sequence}, in order.
   *
   * @return the sequence of the first child that was not taken, or -1 when there is none
   */
  long visitFrom(long sequence, Visitor visitor) {
    if (chunks == null) {
      return visit(few, indexOfFew(sequence), size, visitor);
    }
    if (chunkCount == 0) {
      return -1;
    }
    int at = chunkOf(sequence);
    int index = chunks[at].indexOf(sequence);
    for (; at < chunkCount; at++, index = 0) {
      long stopped = visit(chunks[at].nodes, index, chunks[at].count, visitor);
      if (stopped >= 0) {
        return stopped;
      }
    }
    return -1;
  }

  private static long visit(Node[] nodes, int from, int to, Visitor visitor) {
    for (int i = from; i < to; i++) {
      if (!visitor.visit(nodes[i])) {
        return nodes[i].sequence();
      }
    }
    return -1;
  }

  private int indexOfFew(long sequence) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (few[middle].sequence() < sequence) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void shrinkFew() {
    if (size == 0) {
      few = EMPTY;
    } else if (few.length > FIRST_CAPACITY && size <= few.length / 4) {
      few = Arrays.copyOf(few, few.length / 2);
    }
  }

  private void toChunks() {
    Chunk chunk = new Chunk();
    chunk.nodes = few;
    chunk.count = size;
    chunk.firstSequence = few[0].sequence();
    chunks = new Chunk[] {chunk, null};
    chunkCount = 1;
    few = EMPTY;
  }

  /** The last chunk that does not begin after {@code sequence}; the first one at least. */
  private int chunkOf(long sequence) {
    int low = 0;
    int high = chunkCount;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (chunks[middle].firstSequence <= sequence) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Drops the chunk, or merges it with a neighbour, when little is left of it. */
  private void compact(int at) {
    Chunk chunk = chunks[at];
    if (chunk.count == 0) {
      drop(at);
    } else if (chunk.count <= SMALL_CHUNK) {
      if (at > 0 && chunks[at - 1].count + chunk.count <= CHUNK_CAPACITY / 2) {
        merge(at - 1);
      } else if (at + 1 < chunkCount && chunks[at + 1].count + chunk.count <= CHUNK_CAPACITY / 2) {
        merge(at);
      }
    }
    if (chunkCount == 0) {
      chunks = null;
    } else if (chunkCount == 1 && chunks[0].count <= SMALL_CHUNK) {
      few = Arrays.copyOf(chunks[0].nodes, chunks[0].count);
      chunks = null;
      chunkCount = 0;
    }
  }

  /** Moves the nodes of the chunk after {@code at} into the one at {@code at}. */
  private void merge(int at) {
    Chunk into = chunks[at];
    Chunk from = chunks[at + 1];
    System.arraycopy(from.nodes, 0, into.nodes, into.count, from.count);
    into.count += from.count;
    drop(at + 1);
  }

  private void drop(int at) {
    System.arraycopy(chunks, at + 1, chunks, at, --chunkCount - at);
    chunks[chunkCount] = null;
    if (chunks.length > 16 && chunkCount < chunks.length / 4) {
      chunks = Arrays.copyOf(chunks, chunks.length / 2);
    }
  }
}
