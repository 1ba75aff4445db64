/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadSettings;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Figures;
import io.crail.bench.record.Pace;
import io.crail.bench.record.Recorder;
import io.crail.bench.record.RunStopped;
import io.crail.bench.record.Ticker;
import io.crail.bench.record.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The workers of this process in one experiment. They are prepared one after the other, so that
 * shared nodes are made once. They run at the same time, each in its own thread. The first failure
 * ends the other workers. Used by one thread, except {@link #progress()}.
 */
public final class Crew implements AutoCloseable {
  private static final long END_MILLIS = TimeUnit.SECONDS.toMillis(20);

  private record Worker(Workload workload, Recorder recorder) {}

  private final BenchOptions<?> options;
  private final StartGate gate;
  private final Ticker ticker;
  private final List<Worker> workers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private Throwable failure;
  private boolean discarded;

  /**
   * Creates a crew without workers.
   *
   * @param whenReady called when all workers are about to begin
   */
  public Crew(BenchOptions<?> options, Callable<?> whenReady) {
    this(options, whenReady, Ticker.SYSTEM);
  }

  /** Creates a crew with another clock. */
  public Crew(BenchOptions<?> options, Callable<?> whenReady, Ticker ticker) {
    this.options = options;
    this.gate = new StartGate(options.frame().threads(), whenReady);
    this.ticker = ticker;
  }

  /** Adds a worker and prepares it. The crew closes its workload in any case. */
  public void add(Workload workload, int worker) throws Exception {
    LoadSettings frame = options.frame();
    Pace pace =
        frame.isPaced() ? new Pace(frame.rate(), worker, frame.workers(), options.loop()) : null;
    workers.add(new Worker(workload, new Recorder(ticker, gate, pace)));
    workload.prepare();
  }

  /** Runs all workers, and returns their figures together. */
  public Figures run() throws Exception {
    start();
    join();
    return together();
  }

  /** Runs all workers for so long, or to their end if that comes first. Nothing is counted. */
  void runFor(long nanos) throws Exception {
    start();
    Thread timer = new Thread(() -> stopAfter(nanos), "bench-warm-up");
    timer.setDaemon(true);
    timer.start();
    try {
      join();
    } finally {
      timer.interrupt();
    }
  }

  private void stopAfter(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
      workers.forEach(worker -> worker.recorder().stop());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void start() {
    for (Worker worker : workers) {
      Thread thread = new Thread(() -> run(worker), "bench-worker-" + threads.size());
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  private void join() throws Exception {
    try {
      for (Thread thread : threads) {
        // No deadline: each operation has its own.
        thread.join();
      }
    } catch (InterruptedException e) {
      fail(e);
      awaitEnd();
    }
    throwFailure();
  }

  private void run(Worker worker) {
    try {
      try {
        worker.workload().run(options.loop(), worker.recorder());
      } catch (RunStopped e) {
        if (e.getCause() != null) {
          throw e.getCause();
        }
        if (!worker.recorder().isOverdue()) {
          // Another worker has failed.
          return;
        }
      }
      // The bytes moved before a run was given up have to be right too.
      worker.workload().verify();
    } catch (Throwable e) {
      fail(e);
    }
  }

  /** Keeps the first failure, and ends all workers. */
  private synchronized void fail(Throwable e) {
    if (failure == null) {
      failure = e;
      workers.forEach(worker -> worker.recorder().stop());
      threads.forEach(Thread::interrupt);
    }
  }

  private void awaitEnd() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
    for (Thread thread : threads) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      try {
        thread.join(Math.max(1, left));
      } catch (InterruptedException e) {
        // Already on its way to the end.
      }
    }
  }

  private synchronized void throwFailure() throws Exception {
    if (failure instanceof Exception exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
  }

  private Figures together() {
    long begin = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    List<Figures> parts = new ArrayList<>();
    // Times of this clock may overflow, so only differences are compared.
    long origin = workers.get(0).recorder().beginNanos();
    for (Worker worker : workers) {
      Recorder recorder = worker.recorder();
      parts.add(recorder.figures());
      begin = Math.min(begin, recorder.beginNanos() - origin);
      end = Math.max(end, recorder.endNanos() - origin);
    }
    return Figures.together(parts, end - begin);
  }

  /** The operations so far. */
  long progress() {
    long sum = 0;
    for (Worker worker : workers) {
      sum += worker.recorder().progress();
    }
    return sum;
  }

  /** Lets the close remove also what is kept after a run. */
  void discard() {
    discarded = true;
  }

  /**
   * Closes all workloads. The first one is closed last, since it may have made nodes that the
   * others use.
   */
  @Override
  public void close() throws Exception {
    List<AutoCloseable> ends = new ArrayList<>();
    for (int i = workers.size() - 1; i >= 0; i--) {
      Workload workload = workers.get(i).workload();
      if (discarded) {
        ends.add(workload::discard);
      }
      ends.add(workload);
    }
    Exception first = null;
    for (AutoCloseable end : ends) {
      try {
        end.close();
      } catch (Exception e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** Lets the workers of a process begin at the same time, after all of them have arrived. */
  private static final class StartGate implements Runnable {
    /** While a worker waits, the others only have to open a file, which takes less than this. */
    private static final long PATIENCE_SECONDS = 60;

    private final CyclicBarrier barrier;

    /**
     * Creates the gate.
     *
     * @param whenAllAreThere called once, by the worker that comes last, before any worker begins
     */
    StartGate(int workers, Callable<?> whenAllAreThere) {
      barrier =
          new CyclicBarrier(
              workers,
              () -> {
                try {
                  whenAllAreThere.call();
                } catch (Exception e) {
                  throw RunStopped.because(e);
                }
              });
    }

    /** Waits for the other workers. */
    @Override
    public void run() {
      try {
        barrier.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw RunStopped.quietly();
      } catch (BrokenBarrierException e) {
        throw RunStopped.quietly();
      } catch (TimeoutException e) {
        throw RunStopped.because(
            new BenchException("a worker was not ready within " + PATIENCE_SECONDS + " s"));
      }
    }
  }
}
