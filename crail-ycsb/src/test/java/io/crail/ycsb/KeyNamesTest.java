/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyNamesTest {
  @Test
  void anOrdinaryKeyIsItsOwnName() {
    assertEquals("user6284781860667377211", KeyNames.encode("user6284781860667377211"));
    assertEquals("a key, .hidden", KeyNames.encode("a key, .hidden"));
  }

  @Test
  void everyKeyComesBackFromANameOfItsOwn() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String letters = "a/%.-0f{}\0\n \u00fc\u65e5";
    Set<String> keys = new HashSet<>(Set.of("", ".", "..", "%", "/", "%2f", "%-", "//"));
    for (int i = 0; i < 5000; i++) {
      StringBuilder key = new StringBuilder();
      for (int length = random.nextInt(6); length > 0; length--) {
        key.append(letters.charAt(random.nextInt(letters.length())));
      }
      keys.add(key.toString());
    }
    Set<String> names = new HashSet<>();
    for (String key : keys) {
      String name = KeyNames.encode(key);
      assertEquals(key, KeyNames.decode(name), () -> "seed " + seed);
      assertTrue(names.add(name), () -> "seed " + seed + ", twice: " + name);
      assertFalse(name.isEmpty() || name.equals(".") || name.equals(".."), () -> "seed " + seed);
      assertTrue(
          name.chars().allMatch(c -> c != '/' && c != '{' && c != '}' && c >= ' '),
          () -> "seed " + seed);
      assertFalse(name.startsWith(KeyNames.RESERVED), () -> "seed " + seed);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"%-3f2a", "%2", "a%", "%%", "%zz", "%2F"})
  void unknownNamesHaveNoKey(String name) {
    assertNull(KeyNames.decode(name));
  }
}
