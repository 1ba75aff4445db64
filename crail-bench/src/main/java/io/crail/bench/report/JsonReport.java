/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.Wire;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Settings and figures of a command as JSON. docs/operations/measure.md describes the shape. A
 * field never changes its name or meaning without a new {@code format}.
 */
public final class JsonReport {
  /** The version of the shape. */
  static final int FORMAT = 1;

  private static final double NANOS_PER_MICRO = 1e3;
  private static final int TICKS_PER_HALVING = 5;

  private final String command;
  private final Instant time;
  private final List<String> arguments;
  private final Map<String, String> configuration;

  /**
   * Creates a report.
   *
   * @param time the start of the command
   * @param configuration the keys that are set, with what may be shown of their values
   */
  public JsonReport(
      String command, Instant time, List<String> arguments, Map<String, String> configuration) {
    this.command = command;
    this.time = time;
    this.arguments = arguments;
    this.configuration = configuration;
  }

  /** Writes the report to the file of the options, or to standard output. */
  public void write(BenchOptions<?> options, List<Measured> all, PrintStream out)
      throws BenchException {
    String text = Json.of(report(options, all));
    LoadSettings frame = options.frame();
    if (frame.printsJson()) {
      out.print(text);
      out.flush();
      return;
    }
    try {
      Files.writeString(Path.of(frame.json()), text);
    } catch (IOException e) {
      throw new BenchException("--json: " + frame.json() + ": " + e.getMessage());
    }
  }

  private Map<String, Object> report(BenchOptions<?> options, List<Measured> all) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("format", FORMAT);
    report.put("command", command);
    report.put("arguments", arguments);
    report.put("version", version());
    report.put("time", time.toString());
    report.put("host", host());
    report.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    report.put("processors", Runtime.getRuntime().availableProcessors());
    report.put("java", Runtime.version().toString());
    report.put("settings", settings(options));
    report.put("configuration", configuration);
    List<Object> results = new ArrayList<>();
    for (Measured measured : all) {
      results.add(result(options, measured));
    }
    report.put("results", results);
    return report;
  }

  private static Map<String, Object> settings(BenchOptions<?> options) {
    LoadSettings frame = options.frame();
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("type", options.type().label());
    settings.put("file", options.path());
    settings.put("sizes", options.type().usesSize() ? options.sizes() : List.of());
    settings.put("loop", options.loop());
    settings.put("batch", options.batch());
    settings.put("storageClass", options.storageClass());
    settings.put("locationClass", options.locationClass());
    settings.put("warmUp", options.warmUp());
    settings.put("warmSeconds", frame.warmSeconds());
    settings.put("drop", options.dropped());
    settings.put("experiments", options.experiments());
    settings.put("open", options.keepOpen());
    settings.put("skipDir", !options.enumerable());
    settings.put("buffered", options.buffered());
    settings.put("names", options.names());
    settings.put("seed", options.seed());
    settings.put("touch", options.touch());
    settings.put("threads", frame.threads());
    settings.put("clients", frame.clients());
    settings.put("rate", frame.isPaced() ? frame.rate() : null);
    return settings;
  }

  private static Map<String, Object> result(BenchOptions<?> options, Measured measured) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("size", options.type().usesSize() ? measured.size() : null);
    result.put("experiments", measured.experiments().stream().map(JsonReport::figures).toList());
    Figures sum = measured.sum();
    Map<String, Object> merged = figures(sum);
    List<Object> points = new ArrayList<>();
    if (sum.latencies().getTotalCount() > 0) {
      for (HistogramIterationValue value : sum.latencies().percentiles(TICKS_PER_HALVING)) {
        points.add(
            List.of(
                value.getPercentileLevelIteratedTo(),
                value.getValueIteratedTo() / NANOS_PER_MICRO,
                value.getTotalCountToThisValue()));
      }
    }
    merged.put("percentiles", points);
    merged.put("histogram", Base64.getEncoder().encodeToString(Wire.encode(sum.latencies())));
    result.put("merged", merged);
    return result;
  }

  private static Map<String, Object> figures(Figures figures) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("seconds", figures.seconds());
    map.put("operations", figures.operations());
    map.put("givenUp", figures.givenUp());
    map.put("bytes", figures.bytes());
    map.put("operationsPerSecond", figures.operationsPerSecond());
    map.put("bytesPerSecond", figures.bytesPerSecond());
    Map<String, Object> latency = new LinkedHashMap<>();
    latency.put("mean", figures.meanMicros());
    for (double percentile : new double[] {50, 90, 99, 99.9, 99.99}) {
      latency.put("p" + LoadSettings.plain(percentile), figures.percentileMicros(percentile));
    }
    latency.put("max", figures.maxMicros());
    map.put("latencyMicros", latency);
    return map;
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "";
    }
  }

  private static String version() {
    Properties properties = new Properties();
    try (InputStream in =
        JsonReport.class.getResourceAsStream("/io/crail/bench/version.properties")) {
      properties.load(in);
    } catch (IOException e) {
      throw new AssertionError("version.properties is broken", e);
    }
    return properties.getProperty("version");
  }
}
