/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.error.ErrorCode;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * What was counted of one operation since a beginning: how many requests took how long, and which
 * errors they got. Counting allocates nothing and never waits. Thread-safe.
 */
public final class OperationCounters {
  /** The number of buckets of times. */
  public static final int BUCKETS = 30;

  /**
   * The first bucket is for times up to two to this power, in nanoseconds; each next one doubles.
   */
  private static final int FIRST_POWER = 8;

  private final LongAdder[] buckets = adders(BUCKETS);
  private final LongAdder nanos = new LongAdder();
  private final LongAdder[] errors = adders(ErrorCode.values().length);

  private static LongAdder[] adders(int count) {
    return Stream.generate(LongAdder::new).limit(count).toArray(LongAdder[]::new);
  }

  /** Counts requests that took this long together; each of them counts with its share. */
  public void served(int requests, long nanosOfAll) {
    buckets[bucket(nanosOfAll / requests)].add(requests);
    nanos.add(nanosOfAll);
  }

  private static int bucket(long nanosOfOne) {
    int power = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, nanosOfOne) - 1);
    return Math.min(Math.max(0, power - FIRST_POWER), BUCKETS - 1);
  }

  /** Counts an error. */
  public void failed(ErrorCode code) {
    errors[code.number()].increment();
  }

  /** Begins anew. What is counted meanwhile may be lost. */
  public void reset() {
    for (LongAdder bucket : buckets) {
      bucket.reset();
    }
    for (LongAdder error : errors) {
      error.reset();
    }
    nanos.reset();
  }

  /** The adders of errors by the numbers of their codes. */
  LongAdder[] errors() {
    return errors;
  }

  /** The longest time, in nanoseconds, that counts for a bucket; the last bucket has no limit. */
  public static long upperNanos(int bucket) {
    return bucket == BUCKETS - 1 ? Long.MAX_VALUE : 1L << (FIRST_POWER + bucket);
  }

  /** Requests served, including refused ones. */
  public long count() {
    long sum = 0;
    for (LongAdder bucket : buckets) {
      sum += bucket.sum();
    }
    return sum;
  }

  /** Requests whose time belongs to one bucket. */
  public long count(int bucket) {
    return buckets[bucket].sum();
  }

  /** The time of all requests together, in nanoseconds. */
  public long nanos() {
    return nanos.sum();
  }

  /**
   * The time, in nanoseconds, that a share of the requests did not exceed; 0 when there were none.
   * Within a bucket, requests are taken to be spread evenly, so it is right up to a factor of two.
   * In the last bucket, which has no limit, it is the least time: 69 s.
   *
   * @param share from 0 to 1, such as 0.99
   */
  public long quantileNanos(double share) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("a share of " + share + " is not from 0 to 1");
    }
    long[] counts = new long[BUCKETS];
    long all = 0;
    for (int i = 0; i < BUCKETS; i++) {
      counts[i] = count(i);
      all += counts[i];
    }
    double left = Math.max(share * all, 1);
    for (int i = 0; i < BUCKETS && all > 0; i++) {
      if (left <= counts[i]) {
        long low = i == 0 ? 0 : upperNanos(i - 1);
        long high = i == BUCKETS - 1 ? low : upperNanos(i);
        return low + (long) ((high - low) * left / counts[i]);
      }
      left -= counts[i];
    }
    return 0;
  }

  /** Requests that were answered with this error. */
  public long errors(ErrorCode code) {
    return errors[code.number()].sum();
  }
}
