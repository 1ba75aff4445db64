/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.memory;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs for values, by their addresses, and those that no class of lengths has. There are more
 * as they are needed, and never fewer. Thread-safe.
 */
final class Slabs {
  private static final Logger LOG = LoggerFactory.getLogger(Slabs.class);

  /** Most slabs that are allocated together. */
  private static final int MOST_TOGETHER = 16;

  private volatile Slab[] all = new Slab[MOST_TOGETHER];

  // Guarded by "this".
  private int count;
  private int most;
  private Slab empty;

  /** Creates it without slabs. */
  Slabs(long mostBytes) {
    this.most = (int) Math.min(mostBytes >>> Slab.LOG_LENGTH, Integer.MAX_VALUE);
  }

  /** The slab of an address. */
  Slab at(long address) {
    return all[(int) (address >>> Slab.LOG_LENGTH)];
  }

  /** Bytes of all slabs, whether they are used or not. */
  synchronized long bytes() {
    return (long) count << Slab.LOG_LENGTH;
  }

  /** A slab that no class has; null when there is none, and no memory for one. */
  synchronized Slab take() {
    if (empty == null && !grow()) {
      return null;
    }
    Slab slab = empty;
    empty = slab.next();
    slab.unlink();
    return slab;
  }

  /** Takes a slab back. */
  synchronized void give(Slab slab) {
    slab.link(empty);
    empty = slab;
  }

  /** As many slabs as there are already, so that a namenode with few values has few. */
  private boolean grow() {
    int more = Math.min(Math.min(Math.max(count, 1), MOST_TOGETHER), most - count);
    if (more <= 0) {
      return false;
    }
    ByteBuffer bytes;
    try {
      bytes = ByteBuffer.allocateDirect(more << Slab.LOG_LENGTH);
    } catch (OutOfMemoryError e) {
      // The JVM has collected all garbage before that, which takes long: never again.
      most = count;
      LOG.warn(
          "no memory outside the heap for more small values than {} bytes: {}",
          bytes(),
          e.getMessage());
      return false;
    }
    if (count + more > all.length) {
      all = Arrays.copyOf(all, Math.max(count + more, 2 * all.length));
    }
    Slab[] slabs = all;
    for (int i = 0; i < more; i++) {
      ByteBuffer own = bytes.slice(i << Slab.LOG_LENGTH, Slab.LENGTH);
      Slab slab = new Slab(own, (long) count << Slab.LOG_LENGTH);
      slabs[count++] = slab;
      give(slab);
    }
    return true;
  }
}
