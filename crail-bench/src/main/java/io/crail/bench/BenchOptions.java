/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.protocol.NodePath;
import java.security.SecureRandom;
import java.util.Locale;
import java.util.Optional;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;

/**
 * The options of one command, checked. Letters and meaning are Apache Crail's; those it does not
 * have are long.
 *
 * @param type what is measured
 * @param path the file or directory
 * @param size bytes of an operation; 0 stands for the configured buffer size
 * @param loop operations
 * @param batch operations in flight
 * @param storageClass storage class of what is created
 * @param locationClass location class of what is created
 * @param warmUp operations before those that count
 * @param experiments how often all is measured
 * @param keepOpen whether all experiments use one store
 * @param enumerable whether listings show what is created
 * @param buffered whether streams have their own buffer
 * @param names files that getMultiFileAsync chooses from
 * @param seed of everything random
 * @param touch whether all bytes are moved once before they are moved for the figures
 */
record BenchOptions(
    BenchType type,
    String path,
    int size,
    long loop,
    int batch,
    int storageClass,
    int locationClass,
    long warmUp,
    int experiments,
    boolean keepOpen,
    boolean enumerable,
    boolean buffered,
    int names,
    long seed,
    boolean touch) {
  /** The most operations in flight. */
  static final int MAX_BATCH = 65_536;

  private static final int MAX_SIZE = 1 << 30;

  /** The most files of getMultiFileAsync: eight digits in a name. */
  private static final int MAX_NAMES = 100_000_000;

  private static final Options OPTIONS =
      new Options()
          .addOption(option("t", "type", "name", "what to measure, in any letter case"))
          .addOption(option("f", "file", "path", "file or directory (/tmp.dat)"))
          .addOption(
              option("s", "size", "bytes", "bytes of an operation, also 4k, 1m (crail.buffersize)"))
          .addOption(option("k", "loop", "count", "operations (1)"))
          .addOption(option("b", "batch", "count", "operations in flight, where it matters (1)"))
          .addOption(option("c", "storage-class", "number", "storage class of new files (0)"))
          .addOption(option("p", "location-class", "number", "location class of new files (0)"))
          .addOption(option("w", "warm-up", "count", "operations before those that count (32)"))
          .addOption(option("e", "experiments", "count", "how often all is measured (1)"))
          .addOption(option("o", "open", "true|false", "one store for all experiments (false)"))
          .addOption(option("d", "skip-dir", "true|false", "hide new files in listings (false)"))
          .addOption(option("m", "buffered", "true|false", "streams with a buffer (true)"))
          .addOption(option("n", "names", "count", "files that getMultiFileAsync uses (1000000)"))
          .addOption(option(null, "seed", "number", "seed of random choices (a new one each time)"))
          .addOption(
              option(
                  null,
                  "touch",
                  "true|false",
                  "move all bytes once before the figures, so that no first use of memory is in"
                      + " them (true)"))
          .addOption(Option.builder("h").longOpt("help").desc("explains all this").get());

  private static Option option(String letter, String name, String argument, String description) {
    return Option.builder(letter).longOpt(name).hasArg().argName(argument).desc(description).get();
  }

  /** The options, for the help. */
  static Options declared() {
    return OPTIONS;
  }

  /**
   * Reads a command line.
   *
   * @return the options, or nothing when help is wanted
   * @throws UsageException that names the first thing wrong
   */
  static Optional<BenchOptions> parse(String[] args) throws UsageException {
    CommandLine line;
    try {
      line = DefaultParser.builder().setAllowPartialMatching(false).get().parse(OPTIONS, args);
    } catch (ParseException e) {
      throw new UsageException(e.getMessage());
    }
    if (line.hasOption("h")) {
      return Optional.empty();
    }
    if (!line.getArgList().isEmpty()) {
      throw new UsageException("'" + line.getArgList().get(0) + "' belongs to no option");
    }
    String name = line.getOptionValue("t");
    if (name == null) {
      throw new UsageException("-t is missing; there are: " + BenchType.names());
    }
    BenchType type =
        BenchType.find(name)
            .orElseThrow(
                () ->
                    new UsageException(
                        "-t: there is no type '" + name + "'; there are: " + BenchType.names()));
    String path = line.getOptionValue("f", "/tmp.dat");
    if (path.isBlank()) {
      throw new UsageException("-f: a path is expected");
    }
    try {
      NodePath.parse(path);
    } catch (CrailException e) {
      throw new UsageException("-f: " + e.getMessage());
    }
    BenchOptions options =
        new BenchOptions(
            type,
            path,
            line.hasOption("s") ? (int) bytes(line.getOptionValue("s")) : 0,
            number(line, "k", 1, 1, Long.MAX_VALUE / MAX_SIZE),
            (int) number(line, "b", 1, 1, MAX_BATCH),
            (int) number(line, "c", 0, -1, Integer.MAX_VALUE),
            (int) number(line, "p", 0, Integer.MIN_VALUE, Integer.MAX_VALUE),
            number(line, "w", 32, 0, Integer.MAX_VALUE),
            (int) number(line, "e", 1, 1, 1_000_000),
            flag(line, "o", false),
            !flag(line, "d", false),
            flag(line, "m", true),
            (int) number(line, "n", 1_000_000, 1, MAX_NAMES),
            number(line, "seed", 0, Long.MIN_VALUE, Long.MAX_VALUE),
            flag(line, "touch", true));
    return Optional.of(
        line.hasOption("seed") ? options : options.withSeed(new SecureRandom().nextInt()));
  }

  /** The same with another seed. */
  BenchOptions withSeed(long newSeed) {
    return new BenchOptions(
        type,
        path,
        size,
        loop,
        batch,
        storageClass,
        locationClass,
        warmUp,
        experiments,
        keepOpen,
        enumerable,
        buffered,
        names,
        newSeed,
        touch);
  }

  /** The same with another size. */
  BenchOptions withSize(int newSize) {
    return new BenchOptions(
        type,
        path,
        newSize,
        loop,
        batch,
        storageClass,
        locationClass,
        warmUp,
        experiments,
        keepOpen,
        enumerable,
        buffered,
        names,
        seed,
        touch);
  }

  /** The command line as it was understood, in one line. */
  String describe() {
    StringBuilder line = new StringBuilder(type.label());
    line.append(", filename ").append(Printable.line(path));
    if (type.usesSize()) {
      line.append(", size ").append(size);
    }
    return line.append(", loop ")
        .append(loop)
        .append(", batch ")
        .append(batch)
        .append(", storageClass ")
        .append(storageClass)
        .append(", locationClass ")
        .append(locationClass)
        .append(", buffered ")
        .append(buffered)
        .append(", seed ")
        .append(seed)
        .toString();
  }

  private static long number(CommandLine line, String name, long absent, long least, long most)
      throws UsageException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    try {
      long value = Long.parseLong(text.strip());
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below, as a value out of range is.
    }
    throw bad(name, text, "a whole number from " + least + " to " + most);
  }

  private static long bytes(String text) throws UsageException {
    String lower = text.strip().toLowerCase(Locale.ROOT);
    int shift = lower.endsWith("k") ? 10 : lower.endsWith("m") ? 20 : lower.endsWith("g") ? 30 : 0;
    String digits = shift == 0 ? lower : lower.substring(0, lower.length() - 1);
    try {
      long value = Long.parseLong(digits);
      if (value >= 1 && value <= MAX_SIZE >> shift) {
        return value << shift;
      }
    } catch (NumberFormatException e) {
      // Told below, as a value out of range is.
    }
    throw bad("s", text, "1 to " + MAX_SIZE + " bytes, as in 4096, 64k or 1m");
  }

  private static boolean flag(CommandLine line, String name, boolean absent) throws UsageException {
    String text = line.getOptionValue(name);
    if (text == null) {
      return absent;
    }
    if (text.equalsIgnoreCase("true") || text.equalsIgnoreCase("false")) {
      return Boolean.parseBoolean(text.toLowerCase(Locale.ROOT));
    }
    throw bad(name, text, "true or false");
  }

  private static UsageException bad(String name, String text, String expected) {
    String option = name.length() == 1 ? "-" + name : "--" + name;
    return new UsageException(option + " " + text + ": expected " + expected);
  }
}
