/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What one run of a job took.
 *
 * @param nanos of the whole job, without what it does to know the right result
 * @param beginMillis when it began, in milliseconds since the epoch
 * @param endMillis when it ended
 * @param parts nanoseconds of single operations by their names; empty when nothing but the whole
 *     counts
 */
record JobTimes(long nanos, long beginMillis, long endMillis, Map<String, List<Long>> parts) {
  /** Those of a job that is measured as a whole. */
  static JobTimes since(long beginNanos) {
    long nanos = System.nanoTime() - beginNanos;
    long end = System.currentTimeMillis();
    return new JobTimes(nanos, end - TimeUnit.NANOSECONDS.toMillis(nanos), end, Map.of());
  }
}
