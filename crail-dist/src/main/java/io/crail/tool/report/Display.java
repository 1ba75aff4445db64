/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.bench.report.Json;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.common.error.CrailException;
import io.crail.tool.command.Colours;
import io.crail.tool.command.CommandContext;
import io.crail.tool.command.UsageException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import org.apache.commons.cli.CommandLine;

/**
 * Shows reports as the options of a command say. A report that is shown again and again takes the
 * place of the last one on a terminal; elsewhere one follows the other. Used by one thread.
 */
public final class Display {
  private static final Duration LEAST_INTERVAL = Duration.ofMillis(100);
  private static final Duration USUAL_INTERVAL = Duration.ofSeconds(2);

  private static final String HOME = "\u001b[H";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_REST = "\u001b[J";

  /** Passes the time between two reports. */
  interface Pause {
    /** Waits. */
    void await(Duration interval) throws InterruptedException;
  }

  /**
   * What a command line says.
   *
   * @param json whether to print JSON
   * @param bytes whether sizes are plain numbers
   * @param interval the time between two reports; zero for one report
   * @param terminal whether the output is a terminal
   */
  record Manner(boolean json, boolean bytes, Duration interval, boolean terminal) {
    boolean isOnce() {
      return interval.isZero();
    }
  }

  private final PrintStream out;
  private final PrintStream err;
  private final Colours colours;
  private final Manner manner;
  private final Pause pause;

  /**
   * Creates a display.
   *
   * @param colours those of {@code out}
   */
  Display(PrintStream out, PrintStream err, Colours colours, Manner manner, Pause pause) {
    this.out = out;
    this.err = err;
    this.colours = colours;
    this.manner = manner;
    this.pause = pause;
  }

  static Display of(CommandContext context, CommandLine line) throws UsageException {
    Duration interval = line.hasOption("w") ? interval(line.getOptionValue("w")) : Duration.ZERO;
    return new Display(
        context.out(),
        context.err(),
        context.colours(),
        new Manner(line.hasOption("j"), line.hasOption("b"), interval, context.writesToTerminal()),
        span -> Thread.sleep(span.toMillis()));
  }

  private static Duration interval(String text) throws UsageException {
    if (text == null) {
      return USUAL_INTERVAL;
    }
    String wrong = "option --watch has the bad value '" + text + "': ";
    try {
      Duration interval = ConfigType.duration(DurationUnit.SECONDS).parse(text);
      if (interval.compareTo(LEAST_INTERVAL) < 0) {
        throw new UsageException(wrong + "must be at least 100ms");
      }
      return interval;
    } catch (IllegalArgumentException e) {
      throw new UsageException(wrong + e.getMessage());
    }
  }

  /** Whether the report is to be shown once, as text. */
  public boolean isPlain() {
    return manner.isOnce() && !manner.json();
  }

  /**
   * Shows the report that {@code ask} gives. If it is to be shown again and again, this does not
   * return, and ends with the first output that is not taken; a failure of the report is shown.
   *
   * @return the exit code
   */
  public int show(Callable<? extends CommandReport> ask) throws Exception {
    if (manner.isOnce()) {
      return print(ask.call());
    }
    while (true) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      PrintStream page = new PrintStream(bytes, false, StandardCharsets.UTF_8);
      page(page, ask);
      page.flush();
      printPage(bytes.toString(StandardCharsets.UTF_8));
      pause.await(manner.interval());
    }
  }

  /** Where a report that is shown once, as text, may be printed bit by bit. */
  public ReportText text() {
    return text(out);
  }

  private ReportText text(PrintStream target) {
    LongFunction<String> sizes = manner.bytes() ? String::valueOf : ByteText::of;
    return new ReportText(target, colours, sizes);
  }

  private int print(CommandReport report) {
    render(report, out);
    report.warnings().forEach(each -> err.println(Printable.line(each)));
    return report.exitCode();
  }

  private void render(CommandReport report, PrintStream target) {
    if (manner.json()) {
      target.print(manner.isOnce() ? Json.of(report.value()) : Json.line(report.value()));
    } else {
      report.print(text(target));
    }
  }

  /** Makes a page of several; a failure may have passed when the next one is made. */
  private void page(PrintStream page, Callable<? extends CommandReport> ask) throws Exception {
    if (!manner.json()) {
      page.println(Instant.now().truncatedTo(ChronoUnit.SECONDS));
    }
    try {
      CommandReport report = ask.call();
      render(report, page);
      if (!manner.json()) {
        report.warnings().forEach(each -> page.println(Printable.line(each)));
      }
    } catch (CrailException e) {
      PrintStream place = manner.json() ? err : page;
      place.println("crail: " + Printable.line(e.getMessage()));
    }
  }

  private void printPage(String page) {
    if (manner.terminal()) {
      out.print(HOME + page.replace("\n", CLEAR_LINE + "\n") + CLEAR_REST);
    } else {
      out.print(manner.json() ? page : page + "\n");
    }
    out.flush();
  }
}
