/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a command believes of the pages of a namenode. */
class ClusterQueryTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 7, 0, 0",
    "7, 0, 0, -1, 0, 0",
    "7, 0, 0, 7, 3, 1",
    "7, 3, 1, 7, 3, 2",
    "7, 3, 2, 7, 5, 1",
    "7, 3, 2, 8, 0, 0"
  })
  void aPageLeadsOn(long cursor, long id, int extent, long next, long nextId, int nextExtent) {
    assertDoesNotThrow(
        () -> ClusterQuery.requireProgress(cursor, id, extent, next, nextId, nextExtent));
  }

  /** Each would be asked for again and again. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0, 0, 0, 0",
    "7, 0, 0, 7, 0, 0",
    "7, 0, 0, 6, 3, 1",
    "7, 3, 1, 7, 3, 1",
    "7, 3, 2, 7, 3, 1",
    "7, 3, 2, 7, 0, 0",
    "7, 0, 0, -2, 0, 0"
  })
  void aPageThatLeadsBackIsRefused(
      long cursor, long id, int extent, long next, long nextId, int nextExtent) {
    CrailException refused =
        assertThrows(
            CrailException.class,
            () -> ClusterQuery.requireProgress(cursor, id, extent, next, nextId, nextExtent));
    assertEquals(ErrorCode.PROTOCOL, refused.code());
  }
}
