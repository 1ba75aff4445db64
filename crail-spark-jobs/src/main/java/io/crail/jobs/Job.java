/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import org.apache.spark.api.java.JavaSparkContext;

/** A job that is measured. Stateless. */
@FunctionalInterface
interface Job {
  /**
   * Runs once, and checks the result.
   *
   * @param bytes of the job's data, about
   * @param tasks of each stage
   * @throws WrongResultException when the result is wrong
   */
  JobTimes run(JavaSparkContext context, long bytes, int tasks) throws WrongResultException;
}
