/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Where Spark keeps shuffle data and broadcast values. */
enum SparkWay {
  /** Spark's default, with its local directory on a disk. */
  DISK("disk"),

  /** Spark's default, with its local directory in memory. */
  TMPFS("tmpfs"),

  /** In Crail, with the local directory of {@link #DISK}. */
  CRAIL("Crail");

  private final String title;

  SparkWay(String title) {
    this.title = title;
  }

  /** The name on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The name for people. */
  String title() {
    return title;
  }

  /** All names. */
  static List<String> words() {
    return Arrays.stream(values()).map(SparkWay::word).toList();
  }
}
