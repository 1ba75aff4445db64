/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.protocol.part.Region;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/** What ends the access of those who may have no more of it, before others get what they had. */
@FunctionalInterface
public interface Fencer {
  /**
   * So many regions are about to be fenced, one after the other: shuts everybody out of all of them
   * at once, where a tier has to end connections for that, so that clients of other regions lose
   * theirs once.
   *
   * @throws IOException when they can be lent no more
   */
  default void beforeFences(List<Integer> regions) throws IOException {}

  /**
   * Ends all access to a region of those who know it until now: it is about to be lent to a
   * namenode that does not know who they are. A tier that checks generations refuses the earlier
   * ones, another one gives the region a new key.
   *
   * @throws IOException when the region can be lent no more
   */
  Fence fence(int region) throws IOException;

  /**
   * Ends all that some clients have begun, in whatever thread: when the answer is true, nothing of
   * it changes a byte any more, though its client were stopped in the middle of it and went on
   * later. What they begin from now on is allowed. Waits for no client, and may be asked for again.
   *
   * <p>Asked of a datanode whose kind of fence is {@code CUT_OFF}, and of no other.
   *
   * @param clients the ids by which they are known to namenodes
   * @return says whether that is so; asked, by the thread that called this, until it is
   */
  default BooleanSupplier cutOff(List<Long> clients) {
    return () -> true;
  }

  /**
   * False while somebody who had a region before its fence may be in the middle of a write to it
   * that the fence does not end: by mapped memory, where nobody else looks for that. It is not lent
   * until then.
   */
  default boolean isQuiet(int region) {
    return true;
  }

  /**
   * What is behind a fence.
   *
   * @param generation above which new generations begin, at least 1
   * @param region the region as it has to be told from now on
   */
  record Fence(long generation, Region region) {}
}
