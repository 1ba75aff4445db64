/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The driver of one job. Spark's settings are system properties. The job runs once with an eighth
 * of its data, so that all executors are there and the code is compiled, and then once with all of
 * them.
 *
 * <pre>
 * JobProgram terasort|groupby|join|broadcast bytes tasks local-directory kills
 * </pre>
 *
 * So many executors are killed when the maps of the second run have ended. The program prints
 * {@code seconds}, {@code local-bytes}, {@code maps-again}, the job and its stages with their begin
 * and end in milliseconds since the epoch, and the nanoseconds of single operations, a line each.
 * It exits with 0 if the result is right, and otherwise says on stderr why it failed. All executors
 * have ended by then.
 */
public final class JobProgram {
  private static final Map<String, Job> JOBS =
      new TreeMap<>(
          Map.of(
              "terasort", new TeraSort(),
              "groupby", new GroupBy(),
              "join", new Join(),
              "broadcast", new Broadcasts()));

  private static final int WARM_UP_PART = 8;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long END_SECONDS = 30;

  private JobProgram() {}

  /** Runs a job, as the class comment says, and ends the process. */
  public static void main(String[] args) {
    int code = 0;
    try {
      run(
          args[0],
          Long.parseLong(args[1]),
          Integer.parseInt(args[2]),
          Path.of(args[3]),
          Integer.parseInt(args[4]));
    } catch (Exception e) {
      e.printStackTrace();
      System.err.println("failed: " + e);
      code = 1;
    }
    endChildren();
    System.out.flush();
    System.exit(code);
  }

  private static void run(String name, long bytes, int tasks, Path local, int kills)
      throws Exception {
    Job job = job(name);
    JobWatch watch = new JobWatch(kills);
    JobTimes times;
    long localBytes;
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf());
        LocalBytes watched = LocalBytes.watch(local)) {
      context.sc().addSparkListener(watch);
      job.run(context, bytes / WARM_UP_PART, tasks);
      watch.begin();
      times = job.run(context, bytes, tasks);
      localBytes = watched.most();
    }
    if (watch.killed() != kills) {
      throw new IllegalStateException(watch.killed() + " executors were killed, not " + kills);
    }
    print(System.out, times, localBytes, watch);
  }

  /** The job of a name. */
  static Job job(String name) {
    Job job = JOBS.get(name);
    if (job == null) {
      throw new IllegalArgumentException("no job " + name + "; there are: " + JOBS.keySet());
    }
    return job;
  }

  /** The stages that make the expected result have begun before the job's own ones. */
  private static void print(PrintStream out, JobTimes times, long localBytes, JobWatch watch) {
    out.printf(Locale.ROOT, "seconds %.3f%n", times.nanos() / NANOS_PER_SECOND);
    out.println("local-bytes " + localBytes);
    out.println("ran-millis " + times.beginMillis() + " " + times.endMillis());
    out.println("maps-again " + watch.mapsAgain());
    for (JobWatch.Stage stage : watch.stages()) {
      if (stage.beginMillis() >= times.beginMillis()) {
        out.println("stage-" + stage.name() + " " + stage.beginMillis() + " " + stage.endMillis());
      }
    }
    for (Map.Entry<String, List<Long>> part : times.parts().entrySet()) {
      out.println(
          part.getKey()
              + " "
              + part.getValue().stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }
  }

  /** Waits for the executors, which are processes that this one has started. */
  static void endChildren() {
    for (ProcessHandle child : ProcessHandle.current().descendants().toList()) {
      try {
        child.onExit().get(END_SECONDS, TimeUnit.SECONDS);
      } catch (TimeoutException | ExecutionException e) {
        child.destroyForcibly();
      } catch (InterruptedException e) {
        child.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
