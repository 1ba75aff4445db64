/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The names of an application's roots: {@code /spark-<application>.<number>}. A namenode owns whole
 * top-level directories, so an application has several of them where there are several namenodes.
 * Stateless.
 */
final class Roots {
  private static final String PREFIX = "/spark-";
  private static final Pattern NAME = Pattern.compile(PREFIX + "([a-z0-9-]+)\\.[0-9]+");
  private static final int FOR_EACH_NAMENODE = 4;

  private static final int NAME_LENGTH = 40;
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss", Locale.ROOT);
  private static final Pattern APPLICATION = Pattern.compile(".*-([0-9]{8}-[0-9]{6})-[0-9a-f]+");

  private Roots() {}

  /**
   * The name of an application in the store: its own, when it began, and something that no other
   * application has.
   */
  static String application(String name, Instant began, byte[] random) {
    String plain = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
    return plain.substring(0, Math.min(plain.length(), NAME_LENGTH))
        + '-'
        + TIME.format(began.atOffset(ZoneOffset.UTC))
        + '-'
        + HexFormat.of().formatHex(random);
  }

  /** When an application began, by the clock of its driver; empty if its name does not say it. */
  static Optional<Instant> began(String application) {
    Matcher matcher = APPLICATION.matcher(application);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(LocalDateTime.parse(matcher.group(1), TIME).toInstant(ZoneOffset.UTC));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  /**
   * The paths of the roots, the same in all processes of the application. Of several namenodes each
   * has as many of them, and they take turns. Numbers in a row would not do: their hashes leave one
   * of three namenodes with 40 % more than its share on average, and now and then one with nothing.
   */
  static List<String> of(String application, int namenodes) {
    String name = PREFIX + application + '.';
    if (namenodes == 1) {
      return List.of(name + 0);
    }
    List<List<String>> at = new ArrayList<>();
    for (int i = 0; i < namenodes; i++) {
      at.add(new ArrayList<>());
    }
    int missing = FOR_EACH_NAMENODE * namenodes;
    for (int i = 0; missing > 0; i++) {
      List<String> there = at.get(UnansweringNamenodes.namenodeOf(name + i, namenodes));
      if (there.size() < FOR_EACH_NAMENODE) {
        there.add(name + i);
        missing--;
      }
    }
    return IntStream.range(0, FOR_EACH_NAMENODE * namenodes)
        .mapToObj(i -> at.get(i % namenodes).get(i / namenodes))
        .toList();
  }

  /** The application's name in the path of a root; empty for any other path. */
  static Optional<String> applicationOf(String path) {
    Matcher matcher = NAME.matcher(path);
    return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
  }
}
