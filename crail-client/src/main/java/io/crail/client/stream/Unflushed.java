/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.stream;

import io.crail.client.loop.LoopContext;
import io.crail.client.space.LocatedExtent;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * The regions to which a stream has written, and whose bytes may not be durable yet. Thread-safe.
 */
final class Unflushed {
  private record Region(int datanode, int index) {}

  /** An extent in each region. */
  private final Map<Region, LocatedExtent> regions = new HashMap<>();

  /** Notes that bytes were written to an extent. */
  synchronized void add(LocatedExtent located) {
    Extent extent = located.extent();
    regions.put(new Region(extent.datanode(), extent.region()), located);
  }

  private synchronized Map<Region, LocatedExtent> takeAll() {
    Map<Region, LocatedExtent> all = new HashMap<>(regions);
    regions.clear();
    return all;
  }

  /**
   * Makes the bytes durable that were written so far. What fails is tried again by the next flush.
   *
   * @param then gets the first error, or null, in the thread that learns of the end
   */
  void flush(LoopContext context, long deadlineNanos, Consumer<CrailException> then) {
    AtomicReference<CrailException> first = new AtomicReference<>();
    AtomicInteger left = new AtomicInteger(1);
    Consumer<CrailException> ended =
        failure -> {
          first.compareAndSet(null, failure);
          if (left.decrementAndGet() == 0) {
            then.accept(first.get());
          }
        };
    List<LocatedExtent> all = new ArrayList<>(takeAll().values());
    for (LocatedExtent located : all) {
      left.incrementAndGet();
      Flush flush = new Flush(located, ended);
      flush.prepareFlush(located.extent(), deadlineNanos);
      StorageEndpoint endpoint = located.endpoint(context.endpoints());
      if (endpoint == null) {
        flush.end(ErrorCode.UNAVAILABLE.exception("the datanode of what was written"));
      } else {
        endpoint.flush(flush);
      }
    }
    ended.accept(null);
  }

  private final class Flush extends Transfer {
    private final LocatedExtent located;
    private final Consumer<CrailException> ended;

    Flush(LocatedExtent located, Consumer<CrailException> ended) {
      this.located = located;
      this.ended = ended;
    }

    @Override
    protected void completed() {
      if (failure() != null) {
        add(located);
      }
      ended.accept(failure());
    }
  }
}
