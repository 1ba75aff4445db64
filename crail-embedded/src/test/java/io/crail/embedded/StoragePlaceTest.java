/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoragePlaceTest {
  @Test
  void takesAtMostThreeQuartersOfWhatIsFree(@TempDir Path directory) throws Exception {
    StoragePlace place = StoragePlace.choose(directory);
    assertEquals(directory, place.directory());
    assertTrue(place.bytes() > 0 && place.bytes() <= 8L << 30);
    assertTrue(place.bytes() <= directory.toFile().getTotalSpace() / 4 * 3);
  }

  @Test
  void findsAPlaceByItself() throws Exception {
    StoragePlace place = StoragePlace.choose(null);
    assertTrue(Files.isWritable(place.directory().getParent()), place.toString());
    assertTrue(place.bytes() > 0);
  }
}
