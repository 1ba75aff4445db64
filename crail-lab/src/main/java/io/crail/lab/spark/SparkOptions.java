/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.record.OptionException;
import io.crail.lab.programs.LabOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The options of a comparison under Spark.
 *
 * @param runs how often each job runs in each way
 * @param bytes of a job's data
 * @param executors numbers of processes that run tasks, ascending
 * @param cores numbers of cores of each executor, ascending
 * @param memory MiB of each executor's heap
 * @param only names of the jobs, in their order
 * @param ways names of the ways, in their order
 * @param through words that start each driver, before its own command; may be empty
 * @param out a second place for the table; null for none
 * @param plots directory for the charts; null for none
 */
record SparkOptions(
    int runs,
    long bytes,
    List<Integer> executors,
    List<Integer> cores,
    int memory,
    Set<String> only,
    Set<String> ways,
    List<String> through,
    Path out,
    Path plots) {
  private static final int DEFAULT_RUNS = 3;
  private static final long DEFAULT_BYTES = 256 << 20;
  private static final long LEAST_BYTES = 1 << 16;
  private static final long MOST_BYTES = 1L << 42;
  private static final int DEFAULT_EXECUTORS = 2;
  private static final int DEFAULT_MEMORY = 1024;
  private static final long BYTES_OF_A_TASK = 32 << 20;
  private static final int TASKS_OF_A_CORE = 4;

  private static final String HELP =
      """
      Usage: crail spark [options]

      Runs jobs of Spark in three ways, in turn, and prints a table in Markdown: medians, spread, ratios.
      The ways are Spark's own shuffle with spark.local.dir on a disk, the same on tmpfs, and shuffle
      and broadcasts in Crail. Each job has a driver and executors of its own, runs with an eighth of
      the data first, which does not count, and checks its result. With the defaults it takes fifteen to
      thirty minutes on two processors, with 8 GiB of free memory; progress goes to stderr. It starts
      everything itself, on loopback, and Ctrl-C leaves no process and no file.

      With several numbers of executors or cores, terasort and groupby run with each pair of them, and
      the other jobs with the largest one. While a job runs on Crail, the namenode is asked five times
      a second how many operations it has served.

      Spark is that of SPARK_HOME: a distribution of Spark 4.2, or a directory with its jars in jars/.
      Without SPARK_HOME, Maven fetches it, in a clone.

      Options:
        --size <bytes>        data of each job, such as 1g (256m)
        --executors <n,...>   executors, each a process (2)
        --cores <n,...>       tasks of each executor at a time (1)
        --memory <MiB>        heap of each executor (1024)
        --runs <n>            how often each job runs in each way (3)
        --only <jobs>         some of these, separated by commas:
      %s
        --ways <ways>         some of disk,tmpfs,crail
        --through <command>   starts each driver, and so its executors, by this command; see below
        --out <file>          writes the table to this file as well
        --plots <directory>   writes charts as SVG to this directory
      --set goes to all processes of Crail and to its clients. The disk is that of the directory for
      temporary files; CRAIL_CLIENT_OPTS=-Djava.io.tmpdir=<directory> names another one.

      --through is for limits of the driver and its executors, such as a group with little memory, so
      that the data of Spark's own shuffle exceed the page cache:
      --through "systemd-run --scope -p MemoryMax=5G". The ways then have the same limit, but Crail's
      servers have none, as if they were on another host: the report says so.
      """;

  /**
   * Reads a command line.
   *
   * @throws OptionException that names the first error
   */
  static SparkOptions parse(String[] args) throws OptionException {
    LabOptions line =
        LabOptions.parse(
            args,
            List.of(
                "size",
                "executors",
                "cores",
                "memory",
                "runs",
                "only",
                "ways",
                "through",
                "out",
                "plots"),
            List.of());
    return new SparkOptions(
        line.number("runs", DEFAULT_RUNS, 1, 1000),
        line.bytes("size", DEFAULT_BYTES, LEAST_BYTES, MOST_BYTES),
        line.numbers("executors", DEFAULT_EXECUTORS, 1, 1000),
        line.numbers("cores", 1, 1, 1000),
        line.number("memory", DEFAULT_MEMORY, 512, 1 << 20),
        line.words("only", "job", SparkTask.words()),
        line.words("ways", "way", SparkWay.words()),
        line.command("through"),
        line.path("out"),
        line.path("plots"));
  }

  /** The jobs. */
  List<SparkTask> tasks() {
    return Arrays.stream(SparkTask.values()).filter(task -> only.contains(task.word())).toList();
  }

  /** The jobs, with all numbers of executors and cores. */
  List<SparkCase> cases() {
    List<SparkCase> all = new ArrayList<>();
    for (SparkTask task : tasks()) {
      for (int some : task.some(executors)) {
        for (int each : task.some(cores)) {
          all.add(new SparkCase(task, some, each));
        }
      }
    }
    return all;
  }

  /** The name of a case in the table: with its numbers, if its job has several. */
  String name(SparkCase one) {
    boolean several = one.task().isScaled() && executors.size() * cores.size() > 1;
    return one.task().word() + (several ? " " + one.size() : "");
  }

  /** The ways. */
  List<SparkWay> chosenWays() {
    return Arrays.stream(SparkWay.values()).filter(way -> ways.contains(way.word())).toList();
  }

  /** Tasks of each stage, as many for all numbers of executors. */
  int tasksOfAStage() {
    long processors = (long) executors.get(executors.size() - 1) * cores.get(cores.size() - 1);
    long most = Math.max(TASKS_OF_A_CORE * processors, bytes / BYTES_OF_A_TASK);
    return (int) Math.min(most, 1 << 20);
  }

  /** The help text. */
  static String help() {
    StringBuilder jobs = new StringBuilder();
    for (SparkTask task : SparkTask.values()) {
      jobs.append(
          String.format(Locale.ROOT, "          %-15s     %s%n", task.word(), task.title()));
    }
    return String.format(Locale.ROOT, HELP, jobs.toString().stripTrailing());
  }
}
