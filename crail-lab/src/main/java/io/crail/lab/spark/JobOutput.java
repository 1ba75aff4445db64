/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.spark;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a job has printed.
 *
 * @param seconds of the whole job
 * @param localBytes the most that were in Spark's local directory at a time
 * @param parts nanoseconds of single operations by their names
 */
record JobOutput(double seconds, long localBytes, Map<String, List<Long>> parts) {
  private static final String SECONDS = "seconds";
  private static final String LOCAL_BYTES = "local-bytes";

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
    List<String> seconds = lines.remove(SECONDS);
    List<String> localBytes = lines.remove(LOCAL_BYTES);
    if (seconds == null || localBytes == null) {
      throw new IOException("the job has printed no result: " + text);
    }
    Map<String, List<Long>> parts = new LinkedHashMap<>();
    lines.forEach((name, words) -> parts.put(name, words.stream().map(Long::valueOf).toList()));
    return new JobOutput(
        Double.parseDouble(seconds.get(0)), Long.parseLong(localBytes.get(0)), parts);
  }
}
