/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import io.crail.bench.chart.Span;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a job has printed.
 *
 * @param seconds of the whole job
 * @param localBytes the most that were in Spark's local directory at a time
 * @param beginMillis when it began, in milliseconds since the epoch
 * @param endMillis when it ended; not all of the time in between need count
 * @param mapsAgain map tasks that computed what an earlier one had computed
 * @param stages from the job's begin
 * @param parts nanoseconds of single operations by their names
 */
record JobOutput(
    double seconds,
    long localBytes,
    long beginMillis,
    long endMillis,
    long mapsAgain,
    List<Span> stages,
    Map<String, List<Long>> parts) {
  private static final String SECONDS = "seconds";
  private static final String LOCAL_BYTES = "local-bytes";
  private static final String RAN_MILLIS = "ran-millis";
  private static final String MAPS_AGAIN = "maps-again";
  private static final String STAGE = "stage-";
  private static final double MILLIS_PER_SECOND = 1e3;

  /**
   * Reads it.
   *
   * @throws IOException when the job has not printed everything
   */
  static JobOutput of(String text) throws IOException {
    Map<String, List<String>> lines = new LinkedHashMap<>();
    text.lines()
        .map(line -> Arrays.asList(line.split(" ")))
        .forEach(words -> lines.put(words.get(0), words.subList(1, words.size())));
    if (!lines.keySet().containsAll(List.of(SECONDS, LOCAL_BYTES, RAN_MILLIS, MAPS_AGAIN))) {
      throw new IOException("the job has printed no result: " + text);
    }
    double seconds = Double.parseDouble(lines.remove(SECONDS).get(0));
    long localBytes = Long.parseLong(lines.remove(LOCAL_BYTES).get(0));
    List<String> ran = lines.remove(RAN_MILLIS);
    long begin = Long.parseLong(ran.get(0));
    long end = Long.parseLong(ran.get(1));
    long mapsAgain = Long.parseLong(lines.remove(MAPS_AGAIN).get(0));
    List<Span> stages = new ArrayList<>();
    Map<String, List<Long>> parts = new LinkedHashMap<>();
    lines.forEach(
        (name, words) -> {
          List<Long> numbers = words.stream().map(Long::valueOf).toList();
          if (name.startsWith(STAGE)) {
            stages.add(
                new Span(
                    name.substring(STAGE.length()).replace('-', ' '),
                    (numbers.get(0) - begin) / MILLIS_PER_SECOND,
                    (numbers.get(1) - begin) / MILLIS_PER_SECOND));
          } else {
            parts.put(name, numbers);
          }
        });
    return new JobOutput(seconds, localBytes, begin, end, mapsAgain, List.copyOf(stages), parts);
  }
}
