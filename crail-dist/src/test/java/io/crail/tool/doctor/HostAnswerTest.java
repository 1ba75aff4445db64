/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.tool.report.Finding;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that a host's answer arrives as it was written, and that garbage is no answer. */
class HostAnswerTest {
  @Test
  void writtenAnswersAreRead() {
    HostAnswer answer =
        new HostAnswer(
            1_700_000_000_123L,
            "1.2",
            Map.of("crail.user", "a b", "crail.cluster.name", ""),
            List.of(Finding.broken("a\ttab and\na line", "do it"), Finding.ok("fine")));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    answer.write(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    List<String> lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
    assertEquals(answer, HostAnswer.read(lines));
    assertEquals("a tab and a line", answer.findings().get(0).text());
  }

  @Test
  void garbageIsNoAnswer() {
    List<String> lines =
        List.of(
            "", "\t\t\t", "clock\tnow", "clock\t99999999999999999999", "found\tBAD\ta\tb", "set\t");
    assertEquals(new HostAnswer(-1, "", Map.of(), List.of()), HostAnswer.read(lines));
  }
}
