/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.compare;

import io.crail.lab.figures.Goals;
import io.crail.lab.figures.Plot;
import io.crail.lab.figures.Samples;
import io.crail.lab.programs.LabCluster;
import io.crail.lab.programs.Redis;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A part of a comparison: figures that belong together and are measured alternately. Used by one
 * thread, once.
 */
abstract class Section {
  /**
   * Many in flight: as many as Redis' users put into a pipeline. Other figures have one in flight.
   */
  static final int DEPTH = 128;

  /** Operations of a client at this depth until all its code is compiled. */
  static final int DEEP_WARM_UP = 2_500_000;

  /** The common part of all sections. */
  protected final CompareSession with;

  /** The figures. */
  protected final Samples samples;

  /** The comparisons. */
  protected final Goals goals;

  private final List<Plot> plots = new ArrayList<>();
  private int run;

  /** Takes one figure, or several that belong together. */
  @FunctionalInterface
  protected interface Step {
    /** Takes the figures. */
    void take() throws IOException, InterruptedException;
  }

  /** Creates a section without figures. */
  Section(CompareSession with) {
    this(with, new Samples(line -> with.say("    " + line)));
  }

  /** Creates a section that adds its figures to {@code samples}. */
  Section(CompareSession with, Samples samples) {
    this.with = with;
    this.samples = samples;
    this.goals = new Goals(samples);
  }

  /** Takes all figures, as often as the options say. */
  final void measure() throws IOException, InterruptedException {
    try {
      prepare();
      for (run = 0; run < runs(); run++) {
        with.say("  run " + (run + 1) + " of " + runs() + " ...");
        run();
      }
    } finally {
      end();
    }
    compare();
  }

  /** How often each figure is taken. */
  protected int runs() {
    return with.options().runs();
  }

  /** Starts and fills the servers. {@link #end} is called in any case. */
  protected void prepare() throws IOException, InterruptedException {}

  /** Takes each figure once. Figures that are compared are taken directly one after the other. */
  protected abstract void run() throws IOException, InterruptedException;

  /** Ends the servers that only this section uses. */
  protected void end() throws IOException, InterruptedException {}

  /** Adds the comparisons. */
  protected abstract void compare();

  /** The figures. */
  final Samples samples() {
    return samples;
  }

  /** The comparisons. */
  final Goals goals() {
    return goals;
  }

  /** The charts. */
  final List<Plot> plots() {
    return plots;
  }

  /** Adds a chart. */
  protected final void plot(Plot plot) {
    plots.add(plot);
  }

  /**
   * Takes figures that are compared, directly one after the other. Each run begins with another
   * figure. So the effects of an earlier figure, and a machine that becomes slower, do not always
   * hit the same one.
   */
  protected final void inTurn(Step... steps) throws IOException, InterruptedException {
    for (int i = 0; i < steps.length; i++) {
      steps[(run + i) % steps.length].take();
    }
  }

  /** Whether this is the first run. Figures without a goal are taken in it alone. */
  protected final boolean isFirstRun() {
    return run == 0;
  }

  /** Whether a peer is there. */
  protected final boolean has(CompareSession.Peer peer) {
    return with.has(peer);
  }

  /** Operations a second of an iobench command. */
  protected final void rate(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String text = with.iobench(arguments, mapped);
    samples.add(
        name,
        "/s",
        LabCluster.shown("iobench", arguments, mapped),
        Samples.number(text, "throughput"));
  }

  /** Latencies of an iobench command. */
  protected final void latency(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    String shown = with.shown(LabCluster.shown("iobench", arguments, mapped));
    latency(name, shown, with.iobench(arguments, mapped));
  }

  /** Latencies in the output of a benchmark. */
  protected final void latency(String name, String shown, String text) {
    samples.add(name, "us p50", shown, Samples.number(text, "p50"));
    samples.add(name, "us p99", shown, Samples.number(text, "p99"));
  }

  /** The output of a benchmark's last experiment. The earlier ones are its warm-up. */
  static String lastExperiment(String text) {
    int begin = text.lastIndexOf("\nexperiment ");
    int end = text.indexOf("\nsummary of ", Math.max(0, begin));
    if (begin < 0 || end < 0) {
      throw new IllegalArgumentException("no experiments in: " + text);
    }
    return text.substring(begin + 1, end + 1);
  }

  /** Bytes a second of an iobench command with several experiments. Their median counts. */
  protected final void bytes(String name, String arguments, boolean mapped)
      throws IOException, InterruptedException {
    bytes(name, LabCluster.shown("iobench", arguments, mapped), with.iobench(arguments, mapped));
  }

  /** Bytes a second in the output of a benchmark with several experiments. */
  protected final void bytes(String name, String shown, String text) {
    String summary = text.substring(text.indexOf("throughput MB/s"));
    samples.add(name, "MB/s", shown, Samples.number(summary, "median"));
  }

  /**
   * Runs iobench for several sizes, one after the other in one process.
   *
   * @return the output for each size
   */
  protected final Map<Integer, String> sweep(String arguments, int[] sizes, boolean mapped)
      throws IOException, InterruptedException {
    String text = with.iobench(arguments + sizesOf(sizes), mapped);
    Map<Integer, String> parts = new LinkedHashMap<>();
    for (int size : sizes) {
      parts.put(size, sizes.length == 1 ? text : part(text, size));
    }
    return parts;
  }

  /** The option for several sizes. */
  protected static String sizesOf(int... sizes) {
    return " -s " + String.join(",", Arrays.stream(sizes).mapToObj(String::valueOf).toList());
  }

  /** The output of iobench for one of several sizes. */
  static String part(String text, int size) {
    String begin = "\nsize " + size + "\n";
    int at = text.indexOf(begin);
    if (at < 0) {
      throw new IllegalArgumentException("no size " + size + " in: " + text);
    }
    int next = text.indexOf("\nsize ", at + begin.length() - 1);
    return text.substring(at + begin.length(), next < 0 ? text.length() : next + 1);
  }

  /** Operations a second of Redis, if it is there. */
  protected final void redisRate(String name, Redis.Load load)
      throws IOException, InterruptedException {
    if (has(CompareSession.Peer.REDIS)) {
      samples.add(name, "/s", load.shown(), with.redis(load).perSecond());
    }
  }

  /** Latencies of Redis, if it is there. */
  protected final void redisLatency(String name, Redis.Load load)
      throws IOException, InterruptedException {
    if (has(CompareSession.Peer.REDIS)) {
      Redis.Result result = with.redis(load);
      samples.add(name, "us p50", with.shown(load.shown()), result.p50Micros());
      samples.add(name, "us p99", with.shown(load.shown()), result.p99Micros());
    }
  }
}
