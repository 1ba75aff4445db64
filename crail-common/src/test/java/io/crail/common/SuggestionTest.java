/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests what is suggested for which mistake. */
class SuggestionTest {
  private static final List<String> WORDS =
      List.of("ls", "put", "datanode", "datanodes", "removeDatanode", "version", "--recursive");

  @ParameterizedTest
  @CsvSource({
    "lss, ls",
    "pt, put",
    "upt, put",
    "Version, version",
    "verison, version",
    "removedatanode, removeDatanode",
    "remove, removeDatanode",
    "--recusrive, --recursive",
    "-recursive, --recursive",
    "datanods, datanode"
  })
  void theNearestWordIsSuggested(String written, String meant) {
    assertEquals("; did you mean '" + meant + "'?", Suggestion.of(written, WORDS));
  }

  @ParameterizedTest
  @CsvSource({"nonsense", "x", "data", "re"})
  void nothingIsSuggestedWhereNothingIsNear(String written) {
    assertEquals("", Suggestion.of(written, WORDS));
  }
}
