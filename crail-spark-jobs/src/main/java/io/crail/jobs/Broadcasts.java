/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;

/**
 * Broadcasts many values, small and large ones, each of which many tasks read. The times are those
 * of the driver's call that makes a value known, of the first read in each executor, and of all
 * reads there that began after it.
 */
final class Broadcasts implements Job {
  private static final int SMALL_BYTES = 128;
  private static final int LARGE_BYTES = 8 << 20;
  private static final int LEAST_SMALL_VALUES = 10;
  private static final int MOST_SMALL_VALUES = 100;
  private static final int DATA_OF_A_SMALL_VALUE = 1 << 20;
  private static final int MOST_LARGE_VALUES = 200;
  private static final long SEED = 15;

  @Override
  public JobTimes run(JavaSparkContext context, long bytes, int tasks) throws WrongResultException {
    Map<String, List<Long>> parts = new LinkedHashMap<>();
    int small =
        (int)
            Math.max(
                LEAST_SMALL_VALUES, Math.min(MOST_SMALL_VALUES, bytes / DATA_OF_A_SMALL_VALUE));
    int large = (int) Math.max(1, Math.min(MOST_LARGE_VALUES, bytes / LARGE_BYTES));
    long nanos = 0;
    long begin = System.currentTimeMillis();
    for (int i = 0; i < small; i++) {
      nanos += broadcast(context, SMALL_BYTES, "128B", i, tasks, parts);
    }
    for (int i = 0; i < large; i++) {
      nanos += broadcast(context, LARGE_BYTES, "8MiB", i, tasks, parts);
    }
    return new JobTimes(nanos, begin, System.currentTimeMillis(), parts);
  }

  private static long broadcast(
      JavaSparkContext context,
      int bytes,
      String name,
      int number,
      int tasks,
      Map<String, List<Long>> parts)
      throws WrongResultException {
    byte[] value = new byte[bytes];
    new SplittableRandom(Mix.of(SEED, number)).nextBytes(value);
    List<Integer> all = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      all.add(task);
    }
    long begin = System.nanoTime();
    Broadcast<byte[]> shared = context.broadcast(value);
    long made = System.nanoTime();
    List<BroadcastRead> reads = context.parallelize(all, tasks).map(task -> read(shared)).collect();
    long end = System.nanoTime();
    shared.destroy();
    times(parts, "make-" + name).add(made - begin);
    BroadcastRead.sort(
        reads, checksum(value), times(parts, "first-" + name), times(parts, "cached-" + name));
    return end - begin;
  }

  private static List<Long> times(Map<String, List<Long>> parts, String name) {
    return parts.computeIfAbsent(name, key -> new ArrayList<>());
  }

  /** Reads in a task. The checksum is not part of the time. */
  private static BroadcastRead read(Broadcast<byte[]> shared) {
    long begin = System.nanoTime();
    byte[] value = shared.value();
    long end = System.nanoTime();
    return new BroadcastRead(ProcessHandle.current().pid(), begin, end, checksum(value));
  }

  private static long checksum(byte[] value) {
    CRC32 crc = new CRC32();
    crc.update(value);
    return crc.getValue();
  }
}
