/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.List;
import java.util.Map;

/**
 * What one run of a job took.
 *
 * @param nanos of the whole job, without what it does to know the right result
 * @param parts nanoseconds of single operations by their names; empty when nothing but the whole
 *     counts
 */
record JobTimes(long nanos, Map<String, List<Long>> parts) {
  /** Those of a job of which only the whole counts. */
  static JobTimes since(long beginNanos) {
    return new JobTimes(System.nanoTime() - beginNanos, Map.of());
  }
}
