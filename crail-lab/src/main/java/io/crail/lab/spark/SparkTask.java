/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** What is measured: a job, and what happens to it. */
enum SparkTask {
  TERASORT("terasort", Size.EACH, 0, "sorts rows of 100 bytes, and checks the order"),
  GROUPBY1("groupby", Size.ONE, 0, "groups rows of a kilobyte, with one executor of one core"),
  GROUPBY("groupby", Size.EACH, 0, "groups rows of a kilobyte, with all executors"),
  TERASORT_KILLED("terasort", Size.MOST, 1, "terasort; an executor is killed after its maps"),
  GROUPBY_KILLED("groupby", Size.MOST, 1, "groupby; an executor is killed after its maps"),
  JOIN("join", Size.MOST, 0, "joins a table with one four times as long"),
  BROADCAST("broadcast", Size.MOST, 0, "broadcasts values of 128 bytes and of 8 MiB");

  /** With how many executors and cores it runs. */
  private enum Size {
    /** With one of each. */
    ONE,

    /** With each number that the options name. */
    EACH,

    /** With the most that the options name. */
    MOST
  }

  private final String job;
  private final Size size;
  private final int kills;
  private final String title;

  SparkTask(String job, Size size, int kills, String title) {
    this.job = job;
    this.size = size;
    this.kills = kills;
    this.title = title;
  }

  /** The name on the command line, and in the table. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The job's name. */
  String job() {
    return job;
  }

  /** How many executors are killed in the middle. */
  int kills() {
    return kills;
  }

  /** What it does, for people. */
  String title() {
    return title;
  }

  /** Whether it runs with each number of executors and cores that the options name. */
  boolean isScaled() {
    return size == Size.EACH;
  }

  /** Which of these numbers of executors, or of cores, it gets; they ascend. */
  List<Integer> some(List<Integer> numbers) {
    return switch (size) {
      case ONE -> List.of(1);
      case EACH -> numbers;
      case MOST -> List.of(numbers.get(numbers.size() - 1));
    };
  }

  /** All names. */
  static List<String> words() {
    return Arrays.stream(values()).map(SparkTask::word).toList();
  }
}
