/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import io.crail.memory.BufferPool;
import java.io.Closeable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of this process for blocks: a fixed number of them, of which those that no one uses
 * are kept until another one needs their place, the least recently used first. Thread-safe.
 */
final class BlockMemory implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(BlockMemory.class);

  private final BufferPool pool;
  private final int capacity;

  /** By name, the least recently used first. Guarded by itself. */
  private final Map<String, Block> blocks = new LinkedHashMap<>(16, 0.75f, true);

  /** Blocks that have memory. Guarded by blocks. */
  private int allocated;

  BlockMemory(int blockBytes, int capacity) {
    this.pool = new BufferPool(blockBytes, (long) blockBytes * capacity);
    this.capacity = capacity;
  }

  /** Finds a block and pins it; null if it is not here. */
  Block find(String name) {
    synchronized (blocks) {
      Block block = blocks.get(name);
      return block != null && block.pin() ? block : null;
    }
  }

  /** Whether a block is here now. */
  boolean has(String name) {
    synchronized (blocks) {
      return blocks.containsKey(name);
    }
  }

  /** An empty block, pinned; null if all memory is in use. */
  Block allocate() {
    synchronized (blocks) {
      if (allocated == capacity && !makeRoom()) {
        return null;
      }
      try {
        Block block = new Block(pool.allocateBuffer());
        allocated++;
        return block;
      } catch (Exception e) {
        // Java's limit of direct memory is lower than ours.
        LOG.debug("no memory for a block", e);
        return null;
      }
    }
  }

  private boolean makeRoom() {
    for (Iterator<Block> oldest = blocks.values().iterator(); oldest.hasNext(); ) {
      Block block = oldest.next();
      if (block.retire()) {
        oldest.remove();
        free(block);
        return true;
      }
    }
    return false;
  }

  private void free(Block block) {
    try {
      pool.freeBuffer(block.buffer());
      allocated--;
    } catch (Exception e) {
      throw new AssertionError("a block has a buffer of the pool", e);
    }
  }

  /** Keeps a block that has its content. */
  void keep(String name, Block block) {
    Block other;
    synchronized (blocks) {
      other = blocks.put(name, block);
      if (other != null && other != block && other.retire()) {
        free(other);
      }
    }
  }

  /** Gives back an empty block, which only the caller has pinned. */
  void discard(Block block) {
    synchronized (blocks) {
      block.unpin();
      if (block.retire()) {
        free(block);
      }
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
