/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.buffer;
import static io.crail.store.Bytes.createFile;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailStatistics;
import io.crail.CrailStatistics.OperationStatistics;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeOperations;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a store tells its program in numbers. */
class StoreStatisticsTest {
  private static final int BYTES = 10_000;

  private TestCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private static OperationStatistics operation(CrailStore store, String name) {
    return store.getStatistics().getOperations().stream()
        .filter(each -> each.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void operationsAreThoseOfTheTableAndOfStreams() throws Exception {
    CrailStore store = cluster.newStore();
    List<String> names =
        Stream.concat(
                NameNodeOperations.all().values().stream().map(each -> each.name()),
                Stream.of("read", "write"))
            .toList();
    assertEquals(
        names,
        store.getStatistics().getOperations().stream().map(OperationStatistics::getName).toList());
  }

  @Test
  void requestsAreCountedWithErrorsAndTimes() throws Exception {
    CrailStore store = cluster.newStore();
    createFile(store, "/there");
    for (int i = 0; i < 100; i++) {
      store.lookup("/there").get();
    }
    assertThrows(ExecutionException.class, () -> store.delete("/nothing", false).get());
    assertEquals(1, operation(store, "create").getCount());
    assertEquals(Map.of(), operation(store, "create").getErrors());
    assertTrue(operation(store, "hello").getCount() >= 1);
    OperationStatistics lookup = operation(store, "lookup");
    assertEquals(100, lookup.getCount());
    long median = lookup.getLatencyNanos(0.5);
    assertTrue(median > 0 && median <= lookup.getLatencyNanos(0.99), median + " ns");
    assertEquals(1, operation(store, "remove").getCount());
    assertEquals(Map.of(ErrorCode.NODE_NOT_FOUND, 1L), operation(store, "remove").getErrors());
    store.getStatistics().reset();
    assertEquals(0, lookup.getCount());
    assertEquals(0, lookup.getLatencyNanos(0.99));
    assertEquals(Map.of(), operation(store, "remove").getErrors());
  }

  @Test
  void bytesAreCountedByTheirWay() throws Exception {
    CrailStore near = cluster.newStore("crail.storage.localmap=true");
    CrailStore far = cluster.newStore("crail.storage.localmap=false");
    CrailStatistics statistics = near.getStatistics();
    CrailFile file = createFile(near, "/bytes");
    // Without a hint the location is not known beforehand.
    CrailOutputStream output = file.getDirectOutputStream(0);
    assertEquals(1, statistics.getOpenOutputStreams());
    assertEquals(1, statistics.getWriteLeases());
    assertEquals(BYTES, output.write(buffer(new byte[BYTES])).get().getLen());
    output.close();
    assertEquals(0, statistics.getOpenOutputStreams());
    assertEquals(0, statistics.getWriteLeases());
    assertEquals(1, operation(near, "write").getCount());
    assertEquals(1, statistics.getLocationMisses());
    assertEquals(0, statistics.getLocationHits());
    assertEquals((long) BYTES, statistics.getBytesWritten().get("local"));
    assertEquals(0L, statistics.getBytesWritten().get("tcp"));

    CrailFile there = far.lookup("/bytes").get().asFile();
    CrailInputStream input = there.getDirectInputStream(BYTES);
    CrailBuffer target = buffer(new byte[BYTES]);
    int reads = 2000;
    for (int i = 0; i < reads; i++) {
      input.seek(0);
      target.clear();
      assertEquals(BYTES, input.read(target).get().getLen());
    }
    assertEquals(1, far.getStatistics().getOpenInputStreams());
    // Some of it comes in before the close.
    assertTrue(far.getStatistics().getBytesRead().get("tcp") > 0);
    long hits = far.getStatistics().getLocationHits();
    assertTrue(hits > 0 && hits <= reads, hits + " hits");
    input.close();
    assertEquals(0, far.getStatistics().getOpenInputStreams());
    assertEquals((long) reads * BYTES, far.getStatistics().getBytesRead().get("tcp"));
    assertEquals(0L, far.getStatistics().getBytesRead().get("local"));
    assertEquals(reads, operation(far, "read").getCount());
    assertTrue(operation(far, "read").getLatencyNanos(0.5) > 0);
    assertEquals(reads, far.getStatistics().getLocationHits());
  }

  @Test
  void buffersAreCounted() throws Exception {
    CrailStore store = cluster.newStore("crail.buffersize=64k", "crail.cachelimit=1m");
    CrailStatistics statistics = store.getStatistics();
    assertEquals(0, statistics.getBufferBytes());
    CrailBuffer first = store.allocateBuffer();
    CrailBuffer second = store.allocateBuffer();
    assertEquals(2, statistics.getLentBuffers());
    assertEquals(1 << 20, statistics.getBufferBytes());
    store.freeBuffer(first);
    store.freeBuffer(second);
    assertEquals(0, statistics.getLentBuffers());
    // The handshake may not have ended.
    long end = System.nanoTime() + 10_000_000_000L;
    while (statistics.getOutstandingOperations() != 0) {
      assertTrue(System.nanoTime() - end < 0, "something stays outstanding");
      Thread.onSpinWait();
    }
  }

  @Test
  void nothingIsCountedWithoutStatistics() throws Exception {
    CrailStore store = cluster.newStore("crail.statistics=false");
    Bytes.write(store, "/uncounted", new byte[BYTES]);
    assertEquals(List.of(), store.getStatistics().getOperations());
    assertEquals(Map.of(), store.getStatistics().getBytesWritten());
  }
}
