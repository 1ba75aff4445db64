/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads metrics in Prometheus' text format 0.0.4, and fails for anything that is not right. */
final class PrometheusText {
  private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  private static final String LABEL = "[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\n]|\\\\[\\\\n\"])*\"";
  private static final Pattern HELP = Pattern.compile("# HELP (" + NAME + ") (.*)");
  private static final Pattern TYPE =
      Pattern.compile("# TYPE (" + NAME + ") (counter|gauge|histogram|summary|untyped)");
  private static final Pattern SAMPLE =
      Pattern.compile("(" + NAME + ")(?:\\{((?:" + LABEL + ",?)*)\\})? (\\S+)");
  private static final Pattern BOUND = Pattern.compile(",?le=\"([^\"]*)\"");

  private final Map<String, String> types = new LinkedHashMap<>();
  private final Map<String, Double> values = new LinkedHashMap<>();
  private final TreeSet<String> names = new TreeSet<>();

  PrometheusText(String text) {
    assertTrue(text.endsWith("\n"), "the last line has no end");
    String family = "";
    Map<String, Double> lastBucket = new LinkedHashMap<>();
    for (String line : text.split("\n")) {
      Matcher type = TYPE.matcher(line);
      Matcher sample = SAMPLE.matcher(line);
      if (type.matches()) {
        family = type.group(1);
        assertNull(types.put(family, type.group(2)), () -> "two families: " + line);
      } else if (sample.matches()) {
        add(family, sample, lastBucket);
      } else {
        assertTrue(HELP.matcher(line).matches(), () -> "no line of this format: " + line);
      }
    }
    lastBucket.forEach(
        (series, count) -> assertEquals(count, values.get(series.replace("_bucket", "_count"))));
  }

  /** What a server serves now. */
  static PrometheusText of(CrailProcess server) throws Exception {
    Matcher line = server.await("^metrics are at (http://\\S+)$", ProcessCluster.PATIENCE);
    URLConnection connection = URI.create(line.group(1)).toURL().openConnection();
    connection.setConnectTimeout((int) ProcessCluster.PATIENCE.toMillis());
    connection.setReadTimeout((int) ProcessCluster.PATIENCE.toMillis());
    try (InputStream answer = connection.getInputStream()) {
      return new PrometheusText(new String(answer.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private void add(String family, Matcher sample, Map<String, Double> lastBucket) {
    String name = sample.group(1);
    String labels = sample.group(2) == null ? "" : sample.group(2);
    String type = types.get(family);
    assertNotNull(type, () -> "without a type: " + name);
    List<String> suffixes =
        switch (type) {
          case "histogram" -> List.of("_bucket", "_sum", "_count");
          case "summary" -> List.of("", "_sum", "_count");
          default -> List.of("");
        };
    assertTrue(
        suffixes.stream().anyMatch(suffix -> name.equals(family + suffix)),
        () -> name + " below " + family);
    double value = Double.parseDouble(sample.group(3).replace("Inf", "Infinity"));
    if (type.equals("counter") || type.equals("histogram")) {
      assertTrue(value >= 0, sample::group);
    }
    names.add(name);
    assertNull(values.put(key(name, labels), value), () -> "twice: " + sample.group());
    Matcher bound = BOUND.matcher(labels);
    if (type.equals("histogram") && name.endsWith("_bucket")) {
      assertTrue(bound.find(), sample::group);
      Double before = lastBucket.put(key(name, bound.replaceFirst("")), value);
      assertTrue(before == null || before <= value, sample::group);
    }
  }

  private static String key(String name, String labels) {
    return labels.isEmpty() ? name : name + "{" + labels + "}";
  }

  /** A value; fails when there is none. */
  double value(String series) {
    Double value = values.get(series);
    assertNotNull(value, () -> "no " + series + " among\n" + String.join("\n", values.keySet()));
    return value;
  }

  /** The names of all series, with their suffixes. */
  TreeSet<String> names() {
    return names;
  }

  /** The names of all metrics, without suffixes. */
  Set<String> families() {
    return types.keySet();
  }

  /** Whether a series of a name has a label with a value. */
  boolean hasLabel(String name, String label, String value) {
    String part = label + "=\"" + value + "\"";
    return values.keySet().stream()
        .anyMatch(series -> series.startsWith(name + "{") && series.contains(part));
  }
}
