/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What is measured: a job, and the executors that it gets. */
enum SparkTask {
  TERASORT("terasort", "sorts rows of 100 bytes, and checks the order"),
  GROUPBY1("groupby", "groups rows of a kilobyte, with one executor of one core"),
  GROUPBY("groupby", "groups rows of a kilobyte, with all executors"),
  JOIN("join", "joins a table with one four times as long"),
  BROADCAST("broadcast", "broadcasts values of 128 bytes and of 8 MiB");

  private final String job;
  private final String title;

  SparkTask(String job, String title) {
    this.job = job;
    this.title = title;
  }

  /** The name on the command line, and in the table. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The job's name. */
  String job() {
    return job;
  }

  /** What it does, for people. */
  String title() {
    return title;
  }

  /** How many of the executors it gets. */
  int executors(int all) {
    return this == GROUPBY1 ? 1 : all;
  }

  /** How many of an executor's cores it gets. */
  int cores(int all) {
    return this == GROUPBY1 ? 1 : all;
  }

  /** All names. */
  static List<String> words() {
    return Arrays.stream(values()).map(SparkTask::word).toList();
  }
}
