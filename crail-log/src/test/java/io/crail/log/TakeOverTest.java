/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many appenders of several stores, while the log is taken over again and again. */
@Timeout(240)
class TakeOverTest {
  private static final int STORES = 4;
  private static final int APPENDERS = 12;
  private static final int TAKEOVERS = Boolean.getBoolean("crail.test.long") ? 100 : 12;

  /** Appends between two takeovers. */
  private static final int BETWEEN = 200;

  private static final long PATIENCE_SECONDS = 200;

  private final AtomicLong appended = new AtomicLong();
  private final AtomicBoolean ended = new AtomicBoolean();

  /** How many the cluster has. */
  int namenodes() {
    return 1;
  }

  /** Small keys, so that many stripes are opened while others take over. */
  private static final LogOptions OPTIONS = LogOptions.DEFAULT.withWidth(3).withMaxEntry(4000);

  /** Appends until the end; every ninth position is taken and left, as by a client that died. */
  private Map<Long, String> append(CrailLog log, String name) throws Exception {
    Map<Long, String> acknowledged = new HashMap<>();
    for (int i = 0; !ended.get(); i++) {
      String entry = name + " " + i;
      assertNull(acknowledged.put(log.append(entry.getBytes()), entry));
      appended.incrementAndGet();
      if (i % 9 == 8) {
        leaveAHole(log);
      }
    }
    return acknowledged;
  }

  private static void leaveAHole(CrailLog log) throws Exception {
    try {
      log.entries().take(log.head().read().epoch());
    } catch (StaleEpochException e) {
      // Then there is no hole.
    }
  }

  /** Fills what is not written just below the tail, so that it races with the appends. */
  private Set<Long> fill(CrailLog log) throws Exception {
    Set<Long> filled = new HashSet<>();
    while (!ended.get()) {
      long tail = log.tail();
      for (long position = Math.max(0, tail - APPENDERS); position < tail; position++) {
        try {
          log.fill(position);
          filled.add(position);
        } catch (AlreadyWrittenException e) {
          // The append was faster.
        }
      }
    }
    return filled;
  }

  /** Epochs that wrote the entries that are there. */
  private static Map<Long, Long> epochs(CrailStore store, CrailLog log) throws Exception {
    LogHead.State state = log.head().read();
    CompoundOperation read = CompoundOperation.builder().readAttributes().build();
    Map<Long, Upcoming<CompoundResult>> reading = new HashMap<>();
    Map<Long, Long> epochs = new HashMap<>();
    int width = OPTIONS.width();
    for (long key = 0; key < state.stripes() * width; key++) {
      reading.put(key, store.operate("/log/" + LogShape.key(key / width, (int) key % width), read));
    }
    for (Map.Entry<Long, Upcoming<CompoundResult>> each : reading.entrySet()) {
      CompoundResult result = each.getValue().get();
      if (result.exists()) {
        long key = each.getKey();
        result
            .attributes(0)
            .forEach(
                (slot, value) -> {
                  long position = state.shape().position(key / width, (int) key % width, slot);
                  // Not a hole.
                  if (value.length > 0) {
                    epochs.put(position, ByteBuffer.wrap(value).getLong());
                  }
                });
      }
    }
    return epochs;
  }

  private void awaitAppends(long count) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    long enough = appended.get() + count;
    while (appended.get() < enough) {
      assertTrue(System.nanoTime() < until, "appenders stand still");
      Thread.sleep(1);
    }
  }

  @Test
  void nothingIsStaleMissingOrWrittenTwice() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(APPENDERS + 1);
    try (LogClusters cluster = new LogClusters(namenodes())) {
      List<CrailStore> stores = new ArrayList<>();
      for (int i = 0; i < STORES; i++) {
        stores.add(cluster.store());
      }
      CrailLog log = CrailLog.create(stores.get(0), "/log", OPTIONS);
      List<Future<Map<Long, String>>> appenders = new ArrayList<>();
      for (int i = 0; i < APPENDERS; i++) {
        String name = "appender " + i;
        CrailLog own = CrailLog.open(stores.get(i % STORES), "/log");
        appenders.add(threads.submit(() -> append(own, name)));
      }
      CrailLog fillers = CrailLog.open(stores.get(1), "/log");
      Future<Set<Long>> filler = threads.submit(() -> fill(fillers));
      List<Map<Long, Long>> sealed = new ArrayList<>();
      try {
        for (int i = 0; i < TAKEOVERS; i++) {
          awaitAppends(BETWEEN);
          long epoch = log.takeOver("takeover " + i).epoch();
          assertEquals(i + 2, epoch);
          sealed.add(epochs(stores.get(0), log));
        }
      } finally {
        ended.set(true);
      }
      Map<Long, String> acknowledged = new HashMap<>();
      for (Future<Map<Long, String>> appender : appenders) {
        Map<Long, String> own = appender.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        own.forEach((position, entry) -> assertNull(acknowledged.put(position, entry)));
      }
      assertTrue(acknowledged.size() >= TAKEOVERS * BETWEEN);
      Set<Long> filled = filler.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      assertTrue(filled.size() > 0);
      filled.retainAll(acknowledged.keySet());
      assertEquals(Set.of(), filled, "filled and written");
      assertNothingIsStale(epochs(stores.get(0), log), sealed);
      assertEquals(acknowledged, readAll(log));
    } finally {
      ended.set(true);
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }

  /** What older epochs had written when the takeover ended is all that they ever have. */
  private static void assertNothingIsStale(Map<Long, Long> last, List<Map<Long, Long>> sealed) {
    Set<Long> writing = new HashSet<>(last.values());
    assertTrue(writing.size() >= TAKEOVERS / 2, "epochs that wrote: " + writing);
    for (int i = 0; i < sealed.size(); i++) {
      long epoch = i + 2;
      Map<Long, Long> late = before(last, epoch);
      late.keySet().removeAll(sealed.get(i).keySet());
      assertEquals(Map.of(), late, "written after epoch " + epoch + " was sealed");
      Map<Long, Long> gone = before(sealed.get(i), epoch);
      gone.keySet().removeAll(last.keySet());
      assertEquals(Map.of(), gone, "written before epoch " + epoch + ", and gone");
    }
  }

  private static Map<Long, Long> before(Map<Long, Long> epochs, long epoch) {
    Map<Long, Long> before = new HashMap<>(epochs);
    before.values().removeIf(each -> each >= epoch);
    return before;
  }

  /** A reader that goes from position to position, and fills what is not written. */
  private static Map<Long, String> readAll(CrailLog log) throws Exception {
    Map<Long, String> entries = new HashMap<>();
    int holes = 0;
    long tail = log.tail();
    for (long position = 0; position < tail; position++) {
      try {
        entries.put(position, new String(log.read(position)));
      } catch (NoEntryException e) {
        holes++;
      } catch (NotWrittenException e) {
        log.fill(position);
        holes++;
      }
    }
    assertTrue(holes > 0);
    assertEquals(tail, entries.size() + holes);
    return entries;
  }

  @Test
  void oneOfTwoThatTakeOverFails() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (LogClusters cluster = new LogClusters(namenodes())) {
      CrailLog.create(cluster.store(), "/log", OPTIONS);
      List<Future<List<LogView>>> takers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        CrailLog own = CrailLog.open(cluster.store(), "/log");
        String name = "taker " + i;
        takers.add(threads.submit(() -> takeOver(own, name)));
      }
      List<LogView> won = new ArrayList<>();
      for (Future<List<LogView>> taker : takers) {
        won.addAll(taker.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
      }
      // Each epoch has one view, and each that was returned is in the log.
      List<LogView> views = CrailLog.open(cluster.store(), "/log").views();
      for (int i = 0; i < views.size(); i++) {
        assertEquals(i + 1, views.get(i).epoch());
      }
      assertTrue(views.containsAll(won), won + " of " + views);
      assertEquals(won.size(), new HashSet<>(won).size());
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }
  }

  private static List<LogView> takeOver(CrailLog log, String name) throws Exception {
    List<LogView> won = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      try {
        won.add(log.takeOver(name + " " + i));
        log.append(name.getBytes());
      } catch (StaleEpochException e) {
        // Another one took over.
      }
    }
    return won;
  }
}
