/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.bench.record.OptionException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/**
 * The options of a comparison.
 *
 * @param runs how often each figure is taken
 * @param only names of the sections to measure, in their order
 * @param files the number of files for measuring the namenode's memory
 * @param out a second place for the tables; null for none
 * @param json the file for all figures; null for none
 * @param plots directory for the charts; null for none
 * @param times whether to report how long each program took
 */
record CompareOptions(
    int runs, Set<String> only, int files, Path out, Path json, Path plots, boolean times) {
  private static final int DEFAULT_RUNS = 3;
  private static final int DEFAULT_FILES = 10_000_000;
  private static final int MAX_FILES = 100_000_000;
  private static final int LEAST_FILES = 100_000;

  private static final String HELP =
      """
      Usage: crail compare [options]

      Measures Crail beside Redis, HDFS, iperf3 and the bare limits of this machine, alternately, and
      prints tables in Markdown: medians, spread, ratios, goals. Takes some twenty minutes with
      three runs on an idle machine with two processors and 8 GiB of free memory; progress goes to
      stderr. It starts everything itself, on loopback, and Ctrl-C leaves no process and no file.

      What is not there is left out and named: redis-server (with redis-benchmark), iperf3, taskset,
      and HDFS, which only a clone has, by Maven. In a clone root gets what is missing by apt-get.

      Options:
        --runs <n>            how often each figure is taken (3)
        --only <sections>     some of these, separated by commas:
      %s
        --files <n>           files that the namenode's memory is measured with (10000000)
        --out <file>          writes the tables to this file as well
        --json <file>         writes all figures to this file
        --plots <directory>   writes charts as SVG and PNG to this directory
        --times               tells after each section which programs have taken its time
      --set goes to all processes of Crail, and is printed with the figures.
      """;

  /**
   * Reads a command line.
   *
   * @throws OptionException that names the first error
   */
  static CompareOptions parse(String[] args) throws OptionException {
    Options options = new Options();
    for (String name : List.of("runs", "only", "files", "out", "json", "plots")) {
      options.addOption(Option.builder().longOpt(name).hasArg().get());
    }
    options.addOption(Option.builder().longOpt("times").get());
    CommandLine line;
    try {
      line = DefaultParser.builder().setAllowPartialMatching(false).get().parse(options, args);
    } catch (ParseException e) {
      throw new OptionException(e.getMessage());
    }
    if (!line.getArgList().isEmpty()) {
      throw new OptionException("'" + line.getArgList().get(0) + "' belongs to no option");
    }
    CompareOptions compare =
        new CompareOptions(
            number(line, "runs", DEFAULT_RUNS, 1, 1000),
            sections(line.getOptionValue("only")),
            number(line, "files", DEFAULT_FILES, LEAST_FILES, MAX_FILES),
            path(line, "out"),
            path(line, "json"),
            path(line, "plots"),
            line.hasOption("times"));
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
    checkFile("out", out);
    checkFile("json", json);
  }

  private static void checkFile(String name, Path file) throws OptionException {
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new OptionException("--" + name + ": " + file + ": there is no directory " + directory);
    }
    if (Files.isDirectory(file) || !Files.isWritable(Files.exists(file) ? file : directory)) {
      throw new OptionException("--" + name + ": " + file + ": cannot be written");
    }
  }

  private static Set<String> sections(String text) throws OptionException {
    List<String> words = text == null ? Part.words() : List.of(text.split(",", -1));
    for (String word : words) {
      if (!Part.words().contains(word)) {
        throw new OptionException(
            "--only: there is no section '" + word + "'; there are: " + Part.words());
      }
    }
    // In the order in which they are measured, for any order of the arguments.
    Set<String> chosen = new LinkedHashSet<>(Part.words());
    chosen.retainAll(words);
    return chosen;
  }

  private static int number(CommandLine line, String name, int absent, int least, int most)
      throws OptionException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    try {
      int value = Integer.parseInt(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a value out of range.
    }
    throw new OptionException(
        "--" + name + " " + text + ": expected a whole number from " + least + " to " + most);
  }

  private static Path path(CommandLine line, String name) throws OptionException {
    String text = line.getOptionValue(name);
    try {
      return text == null ? null : Path.of(text);
    } catch (InvalidPathException e) {
      throw new OptionException("--" + name + ": " + e.getMessage());
    }
  }

  /** The help text. */
  static String help() {
    StringBuilder sections = new StringBuilder();
    for (Part part : Part.values()) {
      sections.append(String.format("                    %-10s %s%n", part.word(), part.title()));
    }
    return String.format(HELP, sections.toString().stripTrailing());
  }
}
