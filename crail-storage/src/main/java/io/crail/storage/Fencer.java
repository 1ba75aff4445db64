/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.protocol.Region;
import java.io.IOException;
import java.util.List;

/** What ends the access of those who had a region, before it is lent to another namenode. */
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
   * What is behind a fence.
   *
   * @param generation above which new generations begin, at least 1
   * @param region the region as it has to be told from now on
   */
  record Fence(long generation, Region region) {}
}
