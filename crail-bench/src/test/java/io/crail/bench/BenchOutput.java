/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.bench.run.BenchContext;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The output of a benchmark. */
public final class BenchOutput {
  private static final Pattern NUMBER = Pattern.compile("[-0-9.]+");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** A context that prints to this object. */
  public BenchContext context(BenchContext.ConfigurationSource source, boolean embedded) {
    return new BenchContext(source, embedded, stream(out), stream(err), false);
  }

  private static PrintStream stream(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }

  /** Standard output. */
  public String text() {
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Standard error. */
  public String errors() {
    return err.toString(StandardCharsets.UTF_8);
  }

  /** Forgets both. */
  public void forget() {
    out.reset();
    err.reset();
  }

  /** All numbers of the lines that begin with a word, line by line. */
  public List<double[]> lines(String word) {
    List<double[]> found = new ArrayList<>();
    text()
        .lines()
        .filter(line -> line.startsWith(word))
        .forEach(
            line -> {
              Matcher matcher = NUMBER.matcher(line.substring(word.length()));
              List<Double> numbers = new ArrayList<>();
              while (matcher.find()) {
                numbers.add(Double.parseDouble(matcher.group()));
              }
              found.add(numbers.stream().mapToDouble(Double::doubleValue).toArray());
            });
    return found;
  }

  /** Checks the lines that every type prints. */
  public void assertPlausible(long operations, long bytes) {
    assertTrue(text().contains("starting benchmark..."), text());
    double seconds = lines("execution time ").get(0)[0];
    assertTrue(seconds > 0 && seconds < 60, text());
    assertEquals(operations, lines("ops ").get(0)[0], text());
    assertEquals(bytes, lines("sumbytes ").get(0)[0], text());
    assertEquals(operations / seconds, lines("throughput ").get(0)[0], operations / seconds / 20);
    assertEquals(bytes > 0, text().contains("MB/s"), text());
    // The value stands after the name of each percentile, which is a number too.
    double[] latencies = lines("latency p50 ").get(0);
    assertTrue(
        latencies[0] > 0
            && latencies[0] <= latencies[2]
            && latencies[2] <= latencies[4]
            && latencies[4] <= latencies[5],
        text());
    assertTrue(latencies[5] <= seconds * 1e6 * 1.01, text());
  }
}
