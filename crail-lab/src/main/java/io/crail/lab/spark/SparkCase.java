/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

/**
 * What is measured, with how many processors.
 *
 * @param executors processes that run tasks
 * @param cores of each executor
 */
record SparkCase(SparkTask task, int executors, int cores) {
  /** The numbers, for people. */
  String size() {
    return executors + " x " + cores;
  }
}
