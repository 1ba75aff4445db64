/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which arguments are taken for what was written. */
class MainTest {
  @ParameterizedTest
  @ValueSource(strings = {"UTF-8", "ANSI_X3.4-1968", "ISO-8859-1"})
  void asciiIsWhatWasWritten(String charset) {
    assertNull(Main.refusal(List.of("put", "a\\b", "/d/a b?\u007f"), charset));
  }

  @Test
  void otherTextIsWhatWasWrittenInUtf8() {
    assertNull(Main.refusal(List.of("put", "/d/\u00fc", "/d/\ud83d\ude80"), "UTF-8"));
    String refusal = Main.refusal(List.of("put", "/d/\ufffd"), "UTF-8");
    assertTrue(refusal.startsWith("the argument '/d/\ufffd' is no UTF-8; "), refusal);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ANSI_X3.4-1968", "ISO-8859-1"})
  void otherCharsetsMakeOtherNames(String charset) {
    // What '\u00fc' becomes: two bytes that are no text, or two letters.
    assertNotNull(Main.refusal(List.of("/d/\ufffd\ufffd"), charset));
    String refusal = Main.refusal(List.of("/d/\u00c3\u00bc"), charset);
    assertTrue(refusal.contains("takes names in " + charset), refusal);
    assertTrue(refusal.contains("LC_ALL=C.UTF-8"), refusal);
  }
}
