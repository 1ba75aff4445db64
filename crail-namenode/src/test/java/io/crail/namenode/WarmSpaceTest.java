/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.common.error.CrailException;
import io.crail.protocol.part.Extent;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that used space is reused before unused space, since its memory already exists. */
class WarmSpaceTest {
  private final TestStore store;
  private final int datanode;

  WarmSpaceTest() throws CrailException {
    store = new TestStore();
    datanode = store.datanode(4L * TestStore.BLOCK);
    for (int index = 1; index < 8; index++) {
      store.region(datanode, index, 4L * TestStore.BLOCK);
    }
  }

  private Set<Integer> regionsOf(String path) throws CrailException {
    Set<Integer> regions = new TreeSet<>();
    for (Extent extent : store.find(store.lookup(path).node().id(), 0).extents()) {
      regions.add(extent.place().region());
    }
    return regions;
  }

  @Test
  void aFileThatIsWrittenAgainAndAgainStaysInItsRegions() throws CrailException {
    for (int round = 0; round < 20; round++) {
      store.write("/file", 6L * TestStore.BLOCK);
      assertEquals(Set.of(0, 1), regionsOf("/file"));
      store.remove("/file", false);
    }
  }

  @Test
  void aSmallExtentTakesABlockOfTheFirstRegionToo() throws CrailException {
    store.write("/large", 6L * TestStore.BLOCK);
    store.remove("/large", false);
    store.write("/small", 100);
    assertEquals(Set.of(0), regionsOf("/small"));
  }

  @Test
  void allRegionsAreFilled() throws CrailException {
    store.write("/all", 32L * TestStore.BLOCK);
    assertEquals(Set.of(0, 1, 2, 3, 4, 5, 6, 7), regionsOf("/all"));
  }
}
