/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.common.Utf8;
import java.util.List;
import org.junit.jupiter.api.Test;

class TextLimitsTest {
  @Test
  void namesOfPeopleAreNamesOfUsers() {
    for (String name : List.of("a", "J\u00f6rg", "\u674e", "DOM\\user", "a b", "x".repeat(255))) {
      assertNull(TextLimits.checkUser(Utf8.of(name)), name);
    }
  }

  /** They would come out in listings and logs. */
  @Test
  void controlCharactersAreRefused() {
    for (int control : new int[] {0, 7, '\n', 0x1b, 0x7f, 0x80, 0x85, 0x9b, 0x2028, 0x2029}) {
      String name = "a" + (char) control + "b";
      assertEquals(
          "must have no control characters",
          TextLimits.checkUser(Utf8.of(name)),
          Integer.toHexString(control));
    }
  }

  @Test
  void lengthAndEncodingAreChecked() {
    assertNotNull(TextLimits.checkUser(Utf8.EMPTY));
    assertNotNull(TextLimits.checkUser(Utf8.of("\u00e4".repeat(128))));
    byte[] broken = {'a', (byte) 0xc3};
    assertEquals("must be UTF-8", TextLimits.checkUser(Utf8.copyOf(broken, 0, broken.length)));
  }
}
