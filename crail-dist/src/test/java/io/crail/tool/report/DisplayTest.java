/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.tool.command.Colours;
import io.crail.tool.report.Display.Manner;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** How reports are shown: once and again and again, on a terminal and elsewhere. */
class DisplayTest {
  private static final Duration INTERVAL = Duration.ofSeconds(3);
  private static final int ROUNDS = 3;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private int pauses;

  /** A report of one number of bytes. */
  public record Bytes(long bytes, List<String> warnings) implements CommandReport {
    @Override
    public void print(ReportText text) {
      text.line("has %s, state %s", text.size(bytes), text.colours().state("online"));
    }

    @Override
    public int exitCode() {
      return 3;
    }
  }

  private Display display(boolean json, boolean bytes, Duration interval, boolean terminal) {
    return new Display(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        Colours.of(terminal, null),
        new Manner(json, bytes, interval, terminal),
        span -> {
          assertEquals(INTERVAL, span);
          if (++pauses == ROUNDS) {
            throw new InterruptedException("enough");
          }
        });
  }

  private String watch(boolean json, boolean terminal, Callable<CommandReport> ask) {
    Display display = display(json, false, INTERVAL, terminal);
    assertThrows(InterruptedException.class, () -> display.show(ask));
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  void oneReportIsTextWithItsWarningsApart() throws Exception {
    Display display = display(false, false, Duration.ZERO, false);
    assertTrue(display.isPlain());
    assertEquals(3, display.show(() -> new Bytes(2048, List.of("half\n is missing"))));
    assertEquals("has 2 KiB, state online\n", out.toString(StandardCharsets.UTF_8));
    assertEquals("half\\n is missing\n", err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void sizesMayBePlainNumbers() throws Exception {
    display(false, true, Duration.ZERO, false).show(() -> new Bytes(2048, List.of()));
    assertEquals("has 2048, state online\n", out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void programsGetItsComponents() throws Exception {
    Display display = display(true, false, Duration.ZERO, true);
    assertFalse(display.isPlain());
    assertEquals(3, display.show(() -> new Bytes(2048, List.of("a"))));
    assertEquals(
        """
        {
          "bytes": 2048,
          "warnings": [
            "a"
          ]
        }
        """,
        out.toString(StandardCharsets.UTF_8));
  }

  @Test
  void oneReportFollowsTheOtherInAFile() {
    String text = watch(false, false, () -> new Bytes(pauses, List.of("late")));
    assertEquals(
        "TIME\nhas 0 B, state online\nlate\n\n"
            + "TIME\nhas 1 B, state online\nlate\n\n"
            + "TIME\nhas 2 B, state online\nlate\n\n",
        text.replaceAll("(?m)^20\\d\\d-.*Z$", "TIME"));
    assertEquals(0, err.size());
  }

  /** So that programs read one report after the other by lines. */
  @Test
  void aReportAsJsonIsOneLineWhenItIsFollowedByAnother() {
    String text = watch(true, false, () -> new Bytes(pauses, List.of("late\n\"")));
    assertEquals(
        List.of(0, 1, 2).stream()
            .map(at -> "{ \"bytes\": " + at + ", \"warnings\": [ \"late\\u000a\\\"\" ] }\n")
            .collect(Collectors.joining()),
        text);
  }

  /** Each page begins at the top, and leaves nothing of the one before. */
  @Test
  void aTerminalShowsTheLastReportOnly() {
    String text = watch(false, true, () -> new Bytes(pauses, List.of()));
    assertEquals(ROUNDS, text.split("\u001b\\[H", -1).length - 1);
    assertTrue(
        text.endsWith("\u001b[K\nhas 2 B, state \u001b[32monline\u001b[0m\u001b[K\n\u001b[J"),
        text);
  }

  /** A namenode that restarts is no reason to stop. */
  @Test
  void aFailureIsShownAndPasses() {
    String text =
        watch(
            false,
            false,
            () -> {
              if (pauses == 1) {
                throw ErrorCode.UNAVAILABLE.exception("a:1");
              }
              return new Bytes(pauses, List.of());
            });
    assertTrue(text.contains("\ncrail: not reachable: a:1\n\n"), text);
    assertTrue(text.contains("\nhas 2 B"), text);
  }
}
