/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/**
 * Where tasks, in other processes of this host, wait until a test lets them go on: a directory with
 * a file for each task that has arrived, and one when the gate is open.
 */
final class Gate implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String OPEN = "open";

  /**
   * A task that has arrived.
   *
   * @param executor the number of its executor
   * @param pid the process of the executor
   */
  record Arrival(String executor, long pid, int partition, int attempt) {
    private static Arrival ofThisTask() {
      TaskContext task = TaskContext.get();
      return new Arrival(
          SparkEnv.get().executorId(),
          ProcessHandle.current().pid(),
          task.partitionId(),
          task.attemptNumber());
    }

    private String name() {
      return executor + " " + pid + " " + partition + " " + attempt;
    }

    private static Arrival of(Path file) {
      String[] words = file.getFileName().toString().split(" ");
      return new Arrival(
          words[0],
          Long.parseLong(words[1]),
          Integer.parseInt(words[2]),
          Integer.parseInt(words[3]));
    }
  }

  private final String directory;

  private Gate(Path directory) {
    this.directory = directory.toString();
  }

  /** A gate that is closed. */
  static Gate closed(Path parent) throws IOException {
    return new Gate(Files.createTempDirectory(parent, "gate"));
  }

  private Path path(String name) {
    return Path.of(directory, name);
  }

  private void arrive() throws IOException {
    Path file = path(Arrival.ofThisTask().name());
    if (!Files.exists(file)) {
      Files.createFile(file);
    }
  }

  /** In a task: waits until the gate is open. An interrupt ends the wait with its exception. */
  void pass() throws IOException, InterruptedException {
    arrive();
    long deadline = System.nanoTime() + Eventually.PATIENCE.toNanos();
    while (!isOpen()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("the gate is not opened");
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** In a task: waits until so many executors have been here, so that each of them has work. */
  void meet(int executors) throws IOException, InterruptedException {
    arrive();
    long deadline = System.nanoTime() + Eventually.PATIENCE.toNanos();
    while (arrivals().stream().map(Arrival::executor).distinct().count() < executors) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException("not so many executors");
      }
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  boolean isOpen() {
    return Files.exists(path(OPEN));
  }

  void open() throws IOException {
    Files.createFile(path(OPEN));
  }

  List<Arrival> arrivals() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(directory))) {
      return files.filter(file -> !file.endsWith(OPEN)).map(Arrival::of).toList();
    }
  }

  /** Waits for a number of tasks. */
  List<Arrival> await(int tasks) throws Exception {
    Eventually.holds(tasks + " tasks at the gate", () -> arrivals().size() >= tasks);
    return arrivals();
  }
}
