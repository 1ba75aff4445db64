/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.ycsb;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * The steady part of one run of YCSB. YCSB's own rate covers the whole run, with the opening of the
 * store and with code that is not compiled yet. But its status has a histogram of each interval, so
 * the first ones can be left out.
 *
 * @param seconds counted seconds
 * @param rate operations a second
 * @param latencies in microseconds, by operation
 */
record YcsbResult(double seconds, double rate, Map<String, Histogram> latencies) {
  /**
   * A read-modify-write counts as its READ and its UPDATE. YCSB also reports it as an operation.
   */
  private static final Set<String> COUNTED = Set.of("READ", "UPDATE", "INSERT", "SCAN");

  private static final String PAIR = "READ-MODIFY-WRITE";
  private static final Pattern RETURN = Pattern.compile("\\[(\\S+)\\], Return=(\\S+), (\\d+)");

  /** The interval in which the run ended, and the one after it. */
  private static final int LAST_INTERVALS = 2;

  private static final double MILLIS_PER_SECOND = 1000;

  /**
   * Checks that all operations of a run were successful.
   *
   * @param output the output of YCSB
   * @param least the number of operations that are required
   * @return the names of the operations
   * @throws IOException when an operation failed, or some are missing, since the figures mean
   *     nothing then
   */
  static Set<String> requireOk(String output, long least) throws IOException {
    Set<String> operations = new TreeSet<>();
    long count = 0;
    Matcher returned = RETURN.matcher(output);
    while (returned.find()) {
      String operation = returned.group(1);
      if (!returned.group(2).equals("OK")) {
        throw new IOException("YCSB: " + returned.group() + "\n" + output);
      }
      if (COUNTED.contains(operation)) {
        count += Long.parseLong(returned.group(3));
        operations.add(operation);
      }
    }
    if (count < least) {
      throw new IOException("YCSB: " + count + " of " + least + " operations\n" + output);
    }
    if (output.contains("[" + PAIR + "]")) {
      operations.add(PAIR);
    }
    return operations;
  }

  /**
   * Reads the steady part of a run: the intervals that begin {@code warmup} or more after its first
   * operation, without the interval in which it ended.
   *
   * @param output the output of YCSB
   * @param prefix beginning of the names of the files with histograms
   * @param warmup seconds
   * @throws IOException as {@link #requireOk}, and when no interval is left
   */
  static YcsbResult read(String output, String prefix, int warmup) throws IOException {
    Map<String, List<Histogram>> logs = new TreeMap<>();
    long begin = Long.MAX_VALUE;
    for (String operation : requireOk(output, 1)) {
      List<Histogram> intervals = intervals(Path.of(prefix + operation + ".hdr"));
      logs.put(operation, intervals);
      begin = Math.min(begin, intervals.get(0).getStartTimeStamp());
    }
    double rate = 0;
    double seconds = Double.MAX_VALUE;
    Map<String, Histogram> latencies = new TreeMap<>();
    for (Map.Entry<String, List<Histogram>> log : logs.entrySet()) {
      Histogram sum = new Histogram(3);
      long millis = 0;
      List<Histogram> all = log.getValue();
      for (Histogram interval : all.subList(0, Math.max(0, all.size() - LAST_INTERVALS))) {
        if (interval.getStartTimeStamp() >= begin + warmup * MILLIS_PER_SECOND) {
          sum.add(interval);
          millis += interval.getEndTimeStamp() - interval.getStartTimeStamp();
        }
      }
      if (millis == 0) {
        throw new IOException(
            "YCSB: " + log.getKey() + ": nothing is left without the first " + warmup + " s");
      }
      latencies.put(log.getKey(), sum);
      seconds = Math.min(seconds, millis / MILLIS_PER_SECOND);
      double each = sum.getTotalCount() * MILLIS_PER_SECOND / millis;
      // The read and the update of a pair are one operation of the workload.
      rate += log.getKey().equals(PAIR) ? -each : each;
    }
    return new YcsbResult(seconds, rate, latencies);
  }

  /** The histograms of a log, which has one or more. */
  private static List<Histogram> intervals(Path log) throws IOException {
    List<Histogram> intervals = new ArrayList<>();
    try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
      for (EncodableHistogram next = reader.nextIntervalHistogram();
          next != null;
          next = reader.nextIntervalHistogram()) {
        intervals.add((Histogram) next);
      }
    }
    if (intervals.isEmpty()) {
      throw new IOException("YCSB: no histograms in " + log.getFileName());
    }
    return intervals;
  }
}
