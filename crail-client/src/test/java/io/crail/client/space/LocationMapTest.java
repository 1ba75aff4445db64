/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LocationMapTest {
  @Test
  void renamesTheHostsThatItNames() {
    LocationMap map = LocationMap.parse("a,b/c,d");
    assertEquals("b", map.nameOf("a"));
    assertEquals("d", map.nameOf("c"));
    assertEquals("e", map.nameOf("e"));
    assertEquals("a", LocationMap.parse("").nameOf("a"));
  }

  @Test
  void refusesWhatIsNoListOfPairs() {
    for (String good : new String[] {"", "a,b", "a,b/c,d"}) {
      assertTrue(LocationMap.isWellFormed(good), good);
    }
    for (String bad : new String[] {"a", "a,b/", "a,b,c", ",b", "a,", "/"}) {
      assertFalse(LocationMap.isWellFormed(bad), bad);
    }
  }
}
