/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Figures;
import io.crail.common.error.NoSpaceException;
import java.util.concurrent.TimeUnit;

/** Workers of this process, which share one store. */
final class LocalLoad<T extends LoadType, S extends AutoCloseable> implements Load<T> {
  /** Some leases and margins; others may keep removing files. */
  private static final long MOST_REST_SECONDS = 60;

  private static final long POLL_MILLIS = 100;

  private final Bench<T, S> bench;
  private final BenchContext context;
  private final Cues cues;
  private final int client;
  private S opened;
  private boolean isWarm;

  /**
   * Creates a load. Nothing is opened yet.
   *
   * @param client the index of this process; the first is 0
   */
  LocalLoad(Bench<T, S> bench, BenchContext context, Cues cues, int client) {
    this.bench = bench;
    this.context = context;
    this.cues = cues;
    this.client = client;
  }

  @Override
  public Figures experiment(BenchOptions<T> options) throws Exception {
    cues.await(Cues.Cue.PREPARE);
    if (opened == null) {
      opened = bench.open();
    }
    if (!isWarm) {
      isWarm = true;
      warmUp(options.asRehearsal());
    }
    Figures figures = measure(options);
    if (!options.keepOpen()) {
      close();
    }
    return figures;
  }

  /**
   * Lets the load run, so that the JVM has compiled it before the first figure. It leaves no file,
   * and all space as free as it was, so that it changes no figure.
   */
  private void warmUp(BenchOptions<T> options) throws Exception {
    int seconds = options.frame().warmSeconds();
    if (seconds == 0) {
      return;
    }
    say("the load runs for " + seconds + " s, not counted");
    long resting = bench.restingBytes(options, opened);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try {
      for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
        rehearse(options, left);
      }
    } catch (NoSpaceException e) {
      say("that has filled the store, so it ends early");
    }
    awaitResting(options, resting);
  }

  private void rehearse(BenchOptions<T> options, long nanos) throws Exception {
    try (Crew crew = new Crew(options, () -> null)) {
      crew.discard();
      fill(crew, options);
      crew.runFor(nanos);
    }
  }

  /** Waits until no more space rests than this. */
  private void awaitResting(BenchOptions<T> options, long most) throws Exception {
    if (bench.restingBytes(options, opened) <= most) {
      return;
    }
    say("its space rests until no earlier write can reach it; waiting for that");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MOST_REST_SECONDS);
    while (bench.restingBytes(options, opened) > most && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private Figures measure(BenchOptions<T> options) throws Exception {
    try (Crew crew =
        new Crew(
            options,
            () -> {
              cues.await(Cues.Cue.GO);
              return null;
            })) {
      if (options.warmUp() > 0) {
        say("warm-up, operations " + options.warmUp());
      }
      try {
        return measure(crew, options);
      } catch (NoSpaceException | InterruptedException e) {
        // What is left would only fill the store. Another process may be the one without space.
        crew.discard();
        throw e;
      }
    }
  }

  private Figures measure(Crew crew, BenchOptions<T> options) throws Exception {
    fill(crew, options);
    cues.await(Cues.Cue.RUN);
    say("starting benchmark...");
    Figures figures = run(crew, options);
    cues.report(figures);
    cues.await(Cues.Cue.CLOSE);
    return figures;
  }

  private void fill(Crew crew, BenchOptions<T> options) throws Exception {
    int threads = options.frame().threads();
    for (int i = 0; i < threads; i++) {
      int worker = client * threads + i;
      crew.add(bench.workload(options.forWorker(worker), opened), worker);
    }
  }

  /** Prints what this process does, unless it is one of several processes. */
  private void say(String text) {
    if (cues == Cues.ALONE) {
      context.out().println(text);
    }
  }

  private Figures run(Crew crew, BenchOptions<T> options) throws Exception {
    if (!context.terminal()) {
      return crew.run();
    }
    try (AutoCloseable progress =
        Progress.on(
            context.err(),
            options.type().label(),
            options.loop() * options.frame().threads(),
            crew::progress)) {
      return crew.run();
    }
  }

  @Override
  public void close() throws Exception {
    S closing = opened;
    opened = null;
    if (closing != null) {
      closing.close();
    }
  }
}
