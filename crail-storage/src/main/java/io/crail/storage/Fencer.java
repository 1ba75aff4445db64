/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.protocol.part.Region;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Ends the access of clients that may no longer have it, before other clients get the same space.
 */
@FunctionalInterface
public interface Fencer {
  /**
   * Announces that these regions are about to be fenced, one after the other. A tier that has to
   * end connections for a fence shuts all clients out of all these regions now, so that clients of
   * other regions lose their connections only once.
   *
   * @throws IOException when the regions cannot be lent any more
   */
  default void beforeFences(List<Integer> regions) throws IOException {}

  /**
   * Ends the access of all clients that know a region so far. The region is about to be lent to a
   * namenode that does not know these clients. A tier that checks generations refuses the earlier
   * generations; another tier gives the region a new key.
   *
   * @throws IOException when the region cannot be lent any more
   */
  Fence fence(int region) throws IOException;

  /**
   * True when clients may know a region from before this process started, since it is on a foreign
   * device. Such a region is fenced before it is lent for the first time.
   */
  default boolean wasLent(int region) {
    return false;
  }

  /**
   * Ends all operations that some clients have begun, in all their threads. After the answer is
   * true, none of these operations changes a byte, even when its client was stopped in the middle
   * and continues later. Operations that the clients begin after this call are allowed. Waits for
   * no client, and may be called again.
   *
   * <p>Called only for a datanode whose kind of fence is {@code CUT_OFF}.
   *
   * @param clients the ids by which namenodes know the clients
   * @return answers whether the operations have ended; the thread that called this asks until the
   *     answer is true
   */
  default BooleanSupplier cutOff(List<Long> clients) {
    return () -> true;
  }

  /**
   * False while a client that had a region before its fence may be in the middle of a write through
   * mapped memory, which the fence does not end. The region is not lent before this is true. A tier
   * overrides this when nothing else checks for such writes.
   */
  default boolean isQuiet(int region) {
    return true;
  }

  /**
   * The state of a region after a fence.
   *
   * @param generation new generations begin above this, at least 1
   * @param region the region as it has to be described from now on
   */
  record Fence(long generation, Region region) {}
}
