/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteTextTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "1023, 1023 B",
    "1024, 1 KiB",
    "1536, 1.5 KiB",
    "1048576, 1 MiB",
    "17179869184, 16 GiB",
    "9223372036854775807, 8 EiB"
  })
  void numbersAreWrittenForPeople(long bytes, String text) {
    assertEquals(text, ByteText.of(bytes));
  }
}
