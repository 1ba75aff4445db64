/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.common.error.ErrorCode;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import io.crail.spark.output.OutputPlace;
import io.crail.spark.output.OutputStatistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Remembers opened outputs, those used last up to a number of bytes. Each is opened once, however
 * many threads ask for it at the same time. Thread-safe.
 */
final class OutputCache {
  private static final int FIRST_GUESS = 4096;

  /** Indexes differ by four bytes for each MiB of large partitions. */
  private static final int GUESS_SLACK = 256;

  private final OutputPlace place;
  private final FetchMemory memory;
  private final long limitBytes;
  private final long waitNanos;
  private final Map<OutputId, CompletableFuture<MapOutput>> loading = new ConcurrentHashMap<>();

  /** Bytes of the last index of a shuffle: the others have about as many. */
  private final Map<Integer, Integer> indexBytes = new ConcurrentHashMap<>();

  private final LinkedHashMap<OutputId, MapOutput> known = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * Remembers nothing yet.
   *
   * @param memory for indexes on their way
   * @param limitBytes most bytes of indexes that are remembered, on the heap
   * @param wait how long a thread waits for another one's opening, which it never does while it has
   *     openings of its own in flight
   */
  OutputCache(OutputPlace place, FetchMemory memory, long limitBytes, Duration wait) {
    this.place = place;
    this.memory = memory;
    this.limitBytes = limitBytes;
    this.waitNanos = wait.toNanos();
  }

  /** What tasks get is counted there. */
  OutputStatistics counts() {
    return place.counts();
  }

  /** What came of an opening: an output, or the reason why there is none. */
  record Opened(MapOutput output, Exception failure) {}

  /** An output that this thread opens. */
  private record Own(OutputId id, CompletableFuture<MapOutput> result, Opening opening) {}

  /** Opens outputs, all at the same time, and waits for them. */
  Map<OutputId, Opened> open(Collection<OutputId> ids) throws InterruptedException {
    Map<OutputId, Opened> opened = new HashMap<>();
    List<Own> own = new ArrayList<>();
    Map<OutputId, CompletableFuture<MapOutput>> others = new HashMap<>();
    for (OutputId id : ids) {
      MapOutput output = opened.containsKey(id) || others.containsKey(id) ? null : known(id);
      if (output != null) {
        opened.put(id, new Opened(output, null));
      } else if (!opened.containsKey(id) && !others.containsKey(id)) {
        CompletableFuture<MapOutput> result = new CompletableFuture<>();
        CompletableFuture<MapOutput> present = loading.putIfAbsent(id, result);
        others.put(id, present == null ? result : present);
        if (present == null) {
          begin(id, result, own);
        }
      }
    }
    try {
      finish(own);
    } finally {
      own.forEach(this::leave);
    }
    for (Map.Entry<OutputId, CompletableFuture<MapOutput>> other : others.entrySet()) {
      opened.put(other.getKey(), outcome(other.getValue()));
    }
    return opened;
  }

  private void begin(OutputId id, CompletableFuture<MapOutput> result, List<Own> own) {
    try {
      String path = place.path(id);
      int guess = indexBytes.getOrDefault(id.shuffle(), FIRST_GUESS) + GUESS_SLACK;
      Opening opening = new Opening(id, path, place.store().lookup(path), memory, guess);
      own.add(new Own(id, result, opening));
    } catch (Exception e) {
      loading.remove(id, result);
      result.completeExceptionally(e);
    } catch (Error e) {
      // The other threads that want it must not wait for this one.
      loading.remove(id, result);
      result.completeExceptionally(
          new IllegalStateException("the thread that opens has failed", e));
    }
  }

  private void finish(List<Own> own) {
    List<Own> reading = new ArrayList<>();
    for (Own each : own) {
      try {
        each.opening.readTail();
        reading.add(each);
      } catch (Exception e) {
        end(each, e);
      }
    }
    for (Own each : reading) {
      try {
        MapOutput output = each.opening.get();
        remember(output);
        loading.remove(each.id, each.result);
        each.result.complete(output);
      } catch (Exception e) {
        end(each, e);
      }
    }
  }

  private void leave(Own own) {
    own.opening.close();
    if (!own.result.isDone()) {
      // After an Error no one has to wait for what this thread leaves.
      end(own, new IllegalStateException("the thread that opens has failed"));
    }
  }

  private void end(Own own, Exception failure) {
    if (failure instanceof InterruptedException) {
      Thread.currentThread().interrupt();
    }
    own.opening.close();
    loading.remove(own.id, own.result);
    own.result.completeExceptionally(failure);
  }

  private Opened outcome(CompletableFuture<MapOutput> result) throws InterruptedException {
    try {
      return new Opened(result.get(waitNanos, TimeUnit.NANOSECONDS), null);
    } catch (ExecutionException e) {
      return new Opened(null, (Exception) e.getCause());
    } catch (TimeoutException e) {
      return new Opened(
          null, ErrorCode.TIMED_OUT.exception("another thread has not opened the output"));
    }
  }

  private synchronized MapOutput known(OutputId id) {
    return known.get(id);
  }

  private synchronized void remember(MapOutput output) {
    OutputId id = output.index().id();
    indexBytes.put(id.shuffle(), output.index().fileBytes());
    if (known.put(id, output) == null) {
      bytes += output.index().memoryBytes();
    }
    Iterator<MapOutput> eldest = known.values().iterator();
    while (bytes > limitBytes && known.size() > 1) {
      bytes -= eldest.next().index().memoryBytes();
      eldest.remove();
    }
  }

  /** Forgets an output, so that it is opened anew. */
  synchronized void forget(OutputId id) {
    MapOutput output = known.remove(id);
    if (output != null) {
      bytes -= output.index().memoryBytes();
    }
  }

  /** Forgets the outputs of a shuffle. */
  synchronized void forgetShuffle(int shuffle) {
    indexBytes.remove(shuffle);
    for (OutputId id : List.copyOf(known.keySet())) {
      if (id.shuffle() == shuffle) {
        forget(id);
      }
    }
  }
}
