/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.bench.record.BenchException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is written is read. */
class JsonInputTest {
  @Test
  void writtenJsonIsReadAgain() throws Exception {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("text", "a \"quoted\" \\ line\n\tand \u00e9 \ud83d\ude00");
    map.put("numbers", List.of(1.0, -2.5e-7, 1e300));
    map.put("words", Arrays.asList(true, false, null));
    map.put("nothing", Map.of());
    map.put("empty", new ArrayList<>());
    assertEquals(map, JsonInput.parse(Json.of(map)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1 2]",
        "[,]",
        "{\"a\" 1}",
        "{a: 1}",
        "{\"a\":}",
        "\"open",
        "\"\\x\"",
        "\"\\u12\"",
        "nul",
        "1 2",
        "[1]]",
        "--1"
      })
  void invalidJsonIsRefused(String text) {
    assertThrows(BenchException.class, () -> JsonInput.parse(text));
  }

  @Test
  void depthHasALimit() {
    assertThrows(BenchException.class, () -> JsonInput.parse("[".repeat(100_000)));
  }
}
