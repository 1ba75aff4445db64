/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.NodePath;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadPatternsTest {
  private static List<String> read(String value) {
    return Configuration.builder()
        .set("crail.client.spread", value, "the test")
        .build()
        .get(ClientKeys.SPREAD);
  }

  private static boolean match(String value, String path) throws Exception {
    return SpreadPatterns.parse(read(value)).match(NodePath.parse(path));
  }

  private static void assertMatch(String value, String... paths) throws Exception {
    for (String path : paths) {
      assertTrue(match(value, path), value + " " + path);
    }
  }

  private static void assertNoMatch(String value, String... paths) throws Exception {
    for (String path : paths) {
      assertFalse(match(value, path), value + " " + path);
    }
  }

  @Test
  void aStarStandsForOneComponent() throws Exception {
    assertMatch("/spark/*, /warehouse", "/spark/a", "/spark/\u00fc-1", "/warehouse");
    assertNoMatch(
        "/spark/*, /warehouse",
        "/",
        "/spark",
        "/spark/a/b",
        "/sparks/a",
        "/warehouse/a",
        "/warehouses",
        "/ware");
    assertMatch("/*/x/*", "/a/x/b", "/x/x/x");
    assertNoMatch("/*/x/*", "/a/y/b", "/a/x", "/a/x/b/c", "/a/xx/b", "/x");
    assertMatch("/*", "/a");
    assertNoMatch("/*", "/", "/a/b");
  }

  @Test
  void emptyByDefault() throws Exception {
    assertEquals(List.of(), Configuration.builder().build().get(ClientKeys.SPREAD));
    assertNoMatch("", "/", "/a", "/a/b");
    assertNoMatch(" , ", "/a");
  }

  @Test
  void aPatternMayBeWrittenAsAPathMay() throws Exception {
    assertMatch("/a//b/", "/a/b");
  }

  @Test
  void refusesWhatCanBeNoSpreadDirectory() {
    for (String bad :
        new String[] {
          "a",
          "/",
          "//",
          "/a*",
          "/a/**",
          "/a/../b",
          "/a/.",
          "/" + "n".repeat(256),
          "/a,/a/b",
          "/a/b/c,/a/*",
          "/*/b/c,/a/*",
          "/*,/x/y"
        }) {
      ConfigException refused = assertThrows(ConfigException.class, () -> read(bad), bad);
      String message = refused.getMessage();
      assertTrue(message.contains("crail.client.spread"), message);
      assertTrue(message.contains("must"), message);
    }
    for (String good : new String[] {"/a,/b/*", "/a/*,/b/*/c", "/a/x,/a/y", "/a,/a", "/*/a,/*/b"}) {
      assertEquals(2, read(good).size());
    }
  }
}
