/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PipelineTest {
  private long nanos;

  /** Operations that end in order, several at a time, each 1 us after the one before. */
  private final class Backend implements Pipeline.Operation<Integer> {
    private final int atOnce;
    private final int failing;
    private final ArrayDeque<CompletableFuture<Integer>> pending = new ArrayDeque<>();
    private final Set<Integer> busySlots = new HashSet<>();
    private int issued;
    private int most;

    Backend(int atOnce, int failing) {
      this.atOnce = atOnce;
      this.failing = failing;
    }

    @Override
    public Future<Integer> issue(int slot) {
      assertTrue(busySlots.add(slot), "slot used twice");
      most = Math.max(most, busySlots.size());
      int index = issued++;
      CompletableFuture<Integer> future =
          new CompletableFuture<>() {
            @Override
            public Integer get() throws InterruptedException, ExecutionException {
              while (!isDone()) {
                endSome();
              }
              return super.get();
            }
          };
      if (index == failing) {
        future.completeExceptionally(new IOException("operation " + index));
      } else {
        pending.add(future);
      }
      return future;
    }

    private void endSome() {
      for (int i = 0; i < atOnce && !pending.isEmpty(); i++) {
        nanos += 1_000;
        pending.remove().complete(8);
      }
    }

    @Override
    public long complete(Integer result, int slot) {
      assertTrue(busySlots.remove(slot), "completed twice");
      return result;
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 1", "1000, 1, 1", "1000, 16, 1", "1000, 16, 5", "1000, 128, 200", "7, 32, 3"})
  void allOperationsAreDoneWithinTheDepth(int count, int depth, int atOnce) throws Exception {
    Backend backend = new Backend(atOnce, -1);
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    new Pipeline<>(depth, backend).run(count, recorder);
    recorder.end();
    assertEquals(count, backend.issued);
    assertEquals(Math.min(count, depth), backend.most);
    assertTrue(backend.busySlots.isEmpty());
    Figures figures = recorder.figures();
    assertEquals(count, figures.operations());
    assertEquals(8L * count, figures.bytes());
    assertEquals(1_000L * count, figures.nanos());
  }

  @Test
  void latencyGoesFromIssueToCompletion() throws Exception {
    Recorder recorder = new Recorder(() -> nanos);
    recorder.begin();
    // With sixteen in flight, one ends each microsecond: each waits for the 15 before it.
    new Pipeline<>(16, new Backend(1, -1)).run(10_000, recorder);
    recorder.end();
    assertEquals(16, recorder.figures().percentileMicros(50), 0.1);
    assertEquals(16, recorder.figures().maxMicros(), 0.1);
  }

  @Test
  void aFailureIsThrownAndNothingStaysInFlight() {
    Backend backend = new Backend(1, 50);
    Recorder recorder = new Recorder(() -> nanos);
    IOException thrown =
        assertThrows(IOException.class, () -> new Pipeline<>(16, backend).run(1000, recorder));
    assertEquals("operation 50", thrown.getMessage());
    assertTrue(backend.pending.isEmpty(), "operations left in flight");
  }

  @Test
  void awaitThrowsTheCause() {
    IOException cause = new IOException("x");
    assertSame(
        cause,
        assertThrows(
            IOException.class, () -> Pipeline.await(CompletableFuture.failedFuture(cause))));
  }
}
