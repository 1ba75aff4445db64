/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The driver of several jobs that are not measured, each of which runs once. Spark's settings are
 * system properties.
 *
 * <pre>
 * JobsProgram terasort,groupby,join,broadcast bytes tasks
 * </pre>
 *
 * <p>The program prints a line for each job whose result is right. It exits with 0 if all are, and
 * otherwise says on stderr why not. All executors have ended by then.
 */
public final class JobsProgram {
  private JobsProgram() {}

  /** Runs the jobs, as the class comment says, and ends the process. */
  public static void main(String[] args) {
    int code = 0;
    try {
      run(List.of(args[0].split(",")), Long.parseLong(args[1]), Integer.parseInt(args[2]));
    } catch (Exception e) {
      e.printStackTrace();
      System.err.println("failed: " + e);
      code = 1;
    }
    JobProgram.endChildren();
    System.out.flush();
    System.exit(code);
  }

  private static void run(List<String> names, long bytes, int tasks) throws WrongResultException {
    List<Job> jobs = names.stream().map(JobProgram::job).toList();
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      for (int i = 0; i < jobs.size(); i++) {
        jobs.get(i).run(context, bytes, tasks);
        System.out.println(names.get(i) + " is right");
      }
    }
  }
}
