/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.measure;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * What one run of YCSB gave.
 *
 * @param rate operations a second
 * @param latencies in microseconds, by operation
 */
record YcsbResult(double rate, Map<String, Histogram> latencies) {
  /** A read-modify-write is a READ and an UPDATE; they are counted, and it is measured besides. */
  private static final List<String> COUNTED = List.of("READ", "UPDATE", "INSERT", "SCAN");

  private static final String PAIR = "READ-MODIFY-WRITE";
  private static final Pattern RATE =
      Pattern.compile("\\[OVERALL\\], Throughput\\(ops/sec\\), (\\S+)");
  private static final Pattern RETURN = Pattern.compile("\\[(\\S+)\\], Return=(\\S+), (\\d+)");

  /**
   * Reads it.
   *
   * @param output what YCSB printed
   * @param prefix beginning of the files with its histograms
   * @param operations that have to be there, at least
   * @throws IOException when an operation failed, or operations are missing: its figures mean
   *     nothing then
   */
  static YcsbResult read(String output, String prefix, long operations) throws IOException {
    Map<String, Histogram> latencies = new TreeMap<>();
    long count = 0;
    Matcher returned = RETURN.matcher(output);
    while (returned.find()) {
      String operation = returned.group(1);
      if (!returned.group(2).equals("OK")) {
        throw new IOException("YCSB: " + returned.group() + "\n" + output);
      }
      if (COUNTED.contains(operation)) {
        count += Long.parseLong(returned.group(3));
        latencies.put(operation, histogram(Path.of(prefix + operation + ".hdr")));
      }
    }
    Matcher rate = RATE.matcher(output);
    if (count < operations || !rate.find()) {
      throw new IOException("YCSB: " + count + " of " + operations + " operations\n" + output);
    }
    if (output.contains("[" + PAIR + "]")) {
      latencies.put(PAIR, histogram(Path.of(prefix + PAIR + ".hdr")));
    }
    return new YcsbResult(Double.parseDouble(rate.group(1)), latencies);
  }

  /** All intervals of a log of histograms together. */
  static Histogram histogram(Path log) throws FileNotFoundException {
    Histogram sum = new Histogram(3);
    try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
      for (EncodableHistogram next = reader.nextIntervalHistogram();
          next != null;
          next = reader.nextIntervalHistogram()) {
        sum.add((Histogram) next);
      }
    }
    return sum;
  }
}
