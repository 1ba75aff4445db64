/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.bench.record.OptionException;
import io.crail.lab.programs.LabOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The options of a comparison.
 *
 * @param runs how often each figure is taken
 * @param only names of the sections to measure, in their order
 * @param files the number of files for measuring the namenode's memory
 * @param children the number of children of a spread directory in section {@code children}
 * @param cached the number of files that section {@code cache} asks for
 * @param flash the target whose namespace section {@code tiers} writes to, as for {@code
 *     crail.storage.nvmf.targets}; null for none
 * @param out a second place for the tables; null for none
 * @param json the file for all figures; null for none
 * @param plots directory for the charts; null for none
 * @param times whether to report how long each program took
 */
record CompareOptions(
    int runs,
    Set<String> only,
    int files,
    int children,
    int cached,
    String flash,
    Path out,
    Path json,
    Path plots,
    boolean times) {
  private static final int DEFAULT_RUNS = 3;
  private static final int DEFAULT_FILES = 10_000_000;
  private static final int MAX_FILES = 100_000_000;
  private static final int LEAST_FILES = 100_000;
  private static final int DEFAULT_CHILDREN = 1_000_000;
  private static final int MAX_CHILDREN = 10_000_000;
  private static final int LEAST_CHILDREN = 1_000;
  private static final int DEFAULT_CACHED = 20_000;
  private static final int MAX_CACHED = 1_000_000;
  private static final int LEAST_CACHED = 100;

  private static final Pattern FLASH = Pattern.compile("((tcp|rdma)://)?[^/\\s]+:[0-9]+/nqn\\S+");

  private static final String HELP =
      """
      Usage: crail compare [options]

      Measures Crail beside Redis, HDFS, iperf3 and the bare limits of this machine, alternately, and
      prints tables in Markdown: medians, spread, ratios, goals. Takes about an hour with three
      runs on an idle machine with two processors and 8 GiB of free memory; progress goes to stderr.
      It starts everything itself, on loopback, and Ctrl-C leaves no processes, and no files but
      those that the options name, which are written anew after each section.

      What is not there is left out and named: redis-server (with redis-benchmark), iperf3, taskset,
      and HDFS, which only a clone has, by Maven. In a clone root gets what is missing by apt-get.

      Options:
        --runs <n>            how often each figure is taken (3)
        --only <sections>     some of these, separated by commas:
      %s
        --files <n>           files that the namenode's memory is measured with (10000000)
        --children <n>        children of a spread directory in section children (1000000)
        --cached <n>          files that section cache asks for (20000)
        --flash <target>      flash for section tiers, behind a target of NVMe over Fabrics, such as
                              tcp://10.0.0.7:4420/nqn.2026-11.org.example:a#1; Crail overwrites it
        --out <file>          writes the tables to this file as well
        --json <file>         writes all figures to this file
        --plots <directory>   writes charts as SVG and PNG to this directory
        --times               says after each section which programs have taken its time
      --set goes to all processes of Crail, and is printed with the figures.
      """;

  /**
   * Reads a command line.
   *
   * @throws OptionException that names the first error
   */
  static CompareOptions parse(String[] args) throws OptionException {
    LabOptions line =
        LabOptions.parse(
            args,
            List.of("runs", "only", "files", "children", "cached", "flash", "out", "json", "plots"),
            List.of("times"));
    CompareOptions compare =
        new CompareOptions(
            line.number("runs", DEFAULT_RUNS, 1, 1000),
            line.words("only", "section", Part.words()),
            line.number("files", DEFAULT_FILES, LEAST_FILES, MAX_FILES),
            line.number("children", DEFAULT_CHILDREN, LEAST_CHILDREN, MAX_CHILDREN),
            line.number("cached", DEFAULT_CACHED, LEAST_CACHED, MAX_CACHED),
            line.text(
                "flash", FLASH, "host:port/nqn, with tcp:// or rdma:// before, #number after"),
            line.path("out"),
            line.path("json"),
            line.path("plots"),
            line.has("times"));
    if (compare.out != null && compare.out.equals(compare.json)) {
      throw new OptionException("--json: " + compare.json + " is what --out writes");
    }
    return compare;
  }

  /**
   * Checks that all requested files can be written, before time is spent.
   *
   * @throws OptionException that names the first file that cannot be written
   */
  void checkFiles() throws OptionException {
    LabOptions.checkFile("out", out);
    LabOptions.checkFile("json", json);
  }

  /** The help text. */
  static String help() {
    StringBuilder sections = new StringBuilder();
    for (Part part : Part.values()) {
      sections.append(
          String.format(Locale.ROOT, "                    %-10s %s%n", part.word(), part.title()));
    }
    return String.format(Locale.ROOT, HELP, sections.toString().stripTrailing());
  }
}
