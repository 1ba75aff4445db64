/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import com.sun.management.ThreadMXBean;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.Machine;
import io.crail.lab.programs.Measurement;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Measures DiSNI's verbs layer and {@code io.crail.verbs}, alternating: one-sided reads through the
 * same queue pair, completion queue and memory. Prints a table in Markdown.
 *
 * <pre>
 * MeasureLayers server-address [--runs 21] [--out file] [--only verbs,prepared,anew]
 * </pre>
 *
 * <p>It is not part of the release, since DiSNI is not. {@code bin/measure --rdma --layers} runs it
 * on the test machine.
 */
public final class MeasureLayers {
  private static final int WARM_UP_RUNS = 6;
  private static final double NANOS_PER_MICRO = 1e3;

  /**
   * A repeated task.
   *
   * @param name the name, for people
   * @param reads reads in a batch; 0 means no read, only a look at the empty completion queue
   * @param bytes of a read
   * @param count how often the task is repeated in a run
   */
  private record Task(String name, int reads, int bytes, int count) {}

  private static final List<Task> TASKS =
      List.of(
          new Task("poll of an empty queue", 0, 0, 20_000),
          new Task("read, 4 B", 1, 4, 2_000),
          new Task("read, 64 KiB", 1, 64 << 10, 100),
          new Task("32 reads of 4 B, posted at once", Layer.MOST_READS, 4, 150));

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** The figures of a task through a layer. */
  private static final class Figures {
    private final List<Double> micros = new ArrayList<>();
    private final List<Double> bytes = new ArrayList<>();
  }

  private final List<String> names;
  private final Figures[][] figures;

  private MeasureLayers(List<String> names) {
    this.names = names;
    figures = new Figures[TASKS.size()][names.size()];
    for (Figures[] row : figures) {
      Arrays.setAll(row, i -> new Figures());
    }
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws Exception {
    int runs = Integer.parseInt(Measurement.option(args, "--runs", "21"));
    String out = Measurement.option(args, "--out", "");
    String only = Measurement.option(args, "--only", String.join(",", Layer.NAMES));
    MeasureLayers measure = new MeasureLayers(List.of(only.split(",")));
    try (DisniPair pair = DisniPair.connect(InetAddress.getByName(args[0]))) {
      for (int run = -WARM_UP_RUNS; run < runs; run++) {
        measure.run(pair, run);
      }
    }
    String report =
        Instant.now().truncatedTo(ChronoUnit.MINUTES)
            + ", "
            + Machine.describe()
            + ". "
            + runs
            + " runs.\n\n"
            + measure.table();
    System.out.print(report);
    if (!out.isEmpty()) {
      Files.writeString(Path.of(out), report);
    }
  }

  /** Runs everything once. Each run begins with another layer. Runs before run 0 do not count. */
  private void run(DisniPair pair, int run) throws IOException {
    for (int task = 0; task < TASKS.size(); task++) {
      for (int i = 0; i < names.size(); i++) {
        int layer = Math.floorMod(run + i, names.size());
        measure(TASKS.get(task), pair, names.get(layer), run < 0 ? null : figures[task][layer]);
      }
    }
  }

  private static void measure(Task task, DisniPair pair, String name, Figures figures)
      throws IOException {
    long[] nanos = new long[task.count];
    long bytes;
    try (Layer layer = Layer.of(name, pair, Math.max(task.reads, 1), task.bytes)) {
      // Objects that only the first call allocates do not count.
      once(task, layer, 0);
      bytes = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < task.count; i++) {
        long began = System.nanoTime();
        once(task, layer, i);
        nanos[i] = System.nanoTime() - began;
      }
      bytes = THREADS.getCurrentThreadAllocatedBytes() - bytes;
    }
    if (figures != null) {
      Arrays.sort(nanos);
      figures.micros.add(nanos[task.count / 2] / NANOS_PER_MICRO);
      figures.bytes.add((double) bytes / task.count);
    }
  }

  private static void once(Task task, Layer layer, int round) throws IOException {
    if (task.reads == 0) {
      layer.poll();
      return;
    }
    layer.post(round);
    for (int left = task.reads; left > 0; ) {
      int polled = layer.poll();
      left -= polled;
      if (polled == 0) {
        // Soft-RoCE may need this processor.
        Verbs.yieldProcessor();
      }
    }
  }

  /** Medians and quartiles; ratios within a run to the first layer. */
  private String table() {
    StringBuilder text = new StringBuilder("| p50, us |");
    names.forEach(name -> text.append(' ').append(name).append(" | bytes each |"));
    names.stream().skip(1).forEach(name -> text.append(" ratio of ").append(name).append(" |"));
    text.append("\n|---|").append("---|".repeat(names.size() * 3 - 1)).append('\n');
    for (int task = 0; task < TASKS.size(); task++) {
      text.append("| ").append(TASKS.get(task).name).append(" |");
      for (Figures each : figures[task]) {
        text.append(spread(each.micros, "%.2f"))
            .append(String.format(Locale.ROOT, " %.0f |", Samples.median(each.bytes)));
      }
      for (int layer = 1; layer < names.size(); layer++) {
        List<Double> ratios = new ArrayList<>();
        for (int run = 0; run < figures[task][0].micros.size(); run++) {
          ratios.add(figures[task][layer].micros.get(run) / figures[task][0].micros.get(run));
        }
        text.append(spread(ratios, "%.2f"));
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static String spread(List<Double> values, String format) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return String.format(
        Locale.ROOT,
        " " + format + " (" + format + " - " + format + ") |",
        Samples.median(values),
        sorted[sorted.length / 4],
        sorted[sorted.length - 1 - sorted.length / 4]);
  }
}
