/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.application;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The names of an application's roots: {@code /spark-<application>.<lease>s.<number>}. A namenode
 * owns whole top-level directories, so an application has several of them where there are several
 * namenodes. Stateless.
 */
final class Roots {
  private static final String PREFIX = "/spark-";
  private static final Pattern NAME =
      Pattern.compile(PREFIX + "[a-z0-9-]+\\.([0-9]{1,9})s\\.[0-9]+");
  private static final int FOR_EACH_NAMENODE = 4;

  private Roots() {}

  /** The paths of the roots, the same in all processes of the application. */
  static List<String> of(String application, Duration lease, int namenodes) {
    int count = namenodes == 1 ? 1 : FOR_EACH_NAMENODE * namenodes;
    String name = PREFIX + application + '.' + lease.toSeconds() + "s.";
    return IntStream.range(0, count).mapToObj(i -> name + i).toList();
  }

  /** The lease of the application whose root a path is; null for any other path. */
  static Duration lease(String path) {
    Matcher matcher = NAME.matcher(path);
    return matcher.matches() ? Duration.ofSeconds(Long.parseLong(matcher.group(1))) : null;
  }
}
