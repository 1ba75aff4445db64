/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.part.Place;
import io.crail.tool.doctor.ExtentOwners.Overlaps;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a namenode that goes on while it is listed may look like. */
class ExtentOwnersTest {
  private static final int LENGTH = 1 << 20;
  private static final Placed OLD = placed(1, 5, 3 * LENGTH);
  private static final Placed NEW = placed(2, 6, 3 * LENGTH);
  private static final Placed OTHER = placed(3, 7, 9 * LENGTH);

  private static Placed placed(long node, long generation, long at) {
    return new Placed(node, 0, LENGTH, new Place(1, 0, at, generation), LENGTH);
  }

  /** Compares listings, each of which is another one. */
  private static Overlaps compare(List<List<Placed>> listings) throws Exception {
    ArrayDeque<List<Placed>> left = new ArrayDeque<>(listings);
    Overlaps found = ExtentOwners.compare(visitor -> left.remove().forEach(visitor));
    assertTrue(found.pairs().isEmpty() || left.isEmpty(), "a listing was not asked for");
    return found;
  }

  @Test
  void twoOwnersAreFound() throws Exception {
    List<Placed> all = List.of(OLD, OTHER, NEW);
    Overlaps found = compare(List.of(all, all, all));
    assertEquals(List.of(new ExtentOwners.Pair(OLD, NEW)), found.pairs());
    assertTrue(found.whole());
  }

  /** The first owner was listed, then its space went to another node, which was listed as well. */
  @Test
  void spaceThatChangesItsOwnerMeanwhileHasOne() throws Exception {
    List<Placed> seen = List.of(OLD, OTHER, NEW);
    List<Placed> then = List.of(OTHER, NEW);
    assertEquals(List.of(), compare(List.of(seen, then, then)).pairs());
    assertEquals(List.of(), compare(List.of(seen, seen, then)).pairs());
    assertEquals(List.of(), compare(List.of(seen, then, seen)).pairs());
  }

  @Test
  void aListingWithoutSuspectsIsEnough() throws Exception {
    assertEquals(new Overlaps(List.of(), true), compare(List.of(List.of(OLD, OTHER))));
  }

  @Test
  void reportsTooManySuspects() throws Exception {
    List<Placed> all = new ArrayList<>();
    for (int i = 0; i <= 50_000; i++) {
      all.add(placed(2 * i, 2 * i, (long) i * LENGTH));
      all.add(placed(2 * i + 1, 2 * i + 1, (long) i * LENGTH));
    }
    Overlaps found = compare(List.of(all, all, all));
    assertFalse(found.whole());
    assertEquals(50_000, found.pairs().size());
  }
}
