/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.record.BenchException;
import io.crail.bench.record.RunStopped;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Lets the workers of a process begin at the same time, after all of them have arrived. */
final class StartGate implements Runnable {
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
