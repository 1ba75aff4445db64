/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class StrayMemoryTest {
  private final StrayMemory strays = new StrayMemory();
  private final List<String> released = new ArrayList<>();

  @Test
  void memoryIsReleasedOnceItsReadHasEndedAndNotBefore() {
    CompletableFuture<Void> first = new CompletableFuture<>();
    CompletableFuture<Void> second = new CompletableFuture<>();
    strays.release(() -> released.add("unused"), null);
    strays.release(() -> released.add("first"), first);
    strays.release(() -> released.add("second"), second);
    strays.releaseEnded();
    assertEquals(List.of("unused"), released);
    second.completeExceptionally(new IllegalStateException("late"));
    strays.releaseEnded();
    assertEquals(List.of("unused", "second"), released);
    first.complete(null);
    strays.releaseEnded();
    strays.releaseEnded();
    assertEquals(List.of("unused", "second", "first"), released);
    strays.release(() -> released.add("done"), first);
    assertEquals(List.of("unused", "second", "first", "done"), released);
  }
}
