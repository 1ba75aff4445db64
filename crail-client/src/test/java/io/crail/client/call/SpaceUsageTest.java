/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailSpace;
import io.crail.protocol.part.ClassUsage;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How the space of a cluster is added up. */
class SpaceUsageTest {
  private static ClassUsage usage(int storageClass, long capacity, long free, long used) {
    return new ClassUsage(storageClass, capacity, free, used, capacity - free - used, 0, 0);
  }

  @Test
  void aNamenodeWithoutAClassHasNoSpaceOfIt() {
    List<List<ClassUsage>> classes =
        Arrays.asList(
            List.of(usage(0, 100, 50, 20), usage(3, 10, 10, 0)),
            null,
            List.of(usage(3, 40, 7, 33)),
            List.of());
    CrailSpace space = SpaceUsage.sum(classes, List.of());
    assertEquals(
        List.of(
            new CrailSpace.FreePart(0, 0, 50),
            new CrailSpace.FreePart(0, 3, 10),
            new CrailSpace.FreePart(2, 0, 0),
            new CrailSpace.FreePart(2, 3, 7),
            new CrailSpace.FreePart(3, 0, 0),
            new CrailSpace.FreePart(3, 3, 0)),
        space.parts());
    assertEquals(150, space.capacityBytes());
    assertEquals(67, space.freeBytes());
    assertEquals(53, space.usedBytes());
    assertEquals(30, space.waitingBytes());
  }
}
