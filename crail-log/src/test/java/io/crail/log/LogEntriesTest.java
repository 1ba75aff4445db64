/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * What is done in an epoch: the cases of ZLog's tests of its backends, where a seal comes first.
 * Here the keys are made before.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class LogEntriesTest {
  private static final byte[] EMPTY = {};

  /** Keys of all positions up to 1,000. */
  private static final int STRIPES = 5;

  private LogClusters cluster;
  private CrailStore store;

  private LogEntries log;
  private LogHead head;

  /** How many the cluster has. */
  int namenodes() {
    return 1;
  }

  @BeforeAll
  void start() throws Exception {
    cluster = new LogClusters(namenodes());
    store = cluster.store();
  }

  @AfterAll
  void stop() throws Exception {
    cluster.close();
  }

  @BeforeEach
  void create(TestInfo test) throws Exception {
    String path = "/" + test.getTestMethod().orElseThrow().getName();
    store
        .createSpread(
            path, CrailNodeType.TABLE, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
    log = new LogEntries(store, path, LogShape.of(4, 1000));
    log.makeTail();
    log.make(0, STRIPES);
    head = new LogHead(store, path);
  }

  private static void written(Executable change) {
    assertThrows(AlreadyWrittenException.class, change);
  }

  private static void stale(Executable operation) {
    assertThrows(StaleEpochException.class, operation);
  }

  private void seal(long epoch) throws Exception {
    log.seal(epoch, STRIPES);
  }

  private void assertMax(long epoch, long position) throws Exception {
    assertEquals(position, log.maxPosition(epoch, STRIPES));
  }

  private void assertEntry(String entry, long epoch, long position) throws Exception {
    ByteBuffer read = log.read(epoch, position);
    byte[] bytes = new byte[read.remaining() - Long.BYTES];
    read.get(Long.BYTES, bytes);
    assertArrayEquals(entry.getBytes(), bytes);
  }

  private void assertNoEntry(long epoch, long position) {
    assertThrows(NoEntryException.class, () -> log.read(epoch, position));
  }

  private void assertNotWritten(long epoch, long position) {
    assertThrows(NotWrittenException.class, () -> log.read(epoch, position));
  }

  @Test
  void writeStaleEpoch() throws Exception {
    seal(10);
    log.write(10, 0, EMPTY);
    for (long epoch : new long[] {1, 2, 3, 9}) {
      stale(() -> log.write(epoch, 0, EMPTY));
      stale(() -> log.write(epoch, 77, EMPTY));
    }
    log.write(10, 1, EMPTY);
    log.write(11, 2, EMPTY);
    log.write(110, 3, EMPTY);
    stale(() -> log.write(7, 0, EMPTY));
    assertMax(10, 3);
  }

  @Test
  void writePosExists() throws Exception {
    seal(1);
    for (long position = 0; position < 4; position++) {
      long at = position;
      log.write(1, at, EMPTY);
      written(() -> log.write(1, at, EMPTY));
      written(() -> log.write(10, at, EMPTY));
    }
    log.write(10, 4, EMPTY);
    seal(4);
    stale(() -> log.write(3, 4, EMPTY));
  }

  @Test
  void writeTrimFill() throws Exception {
    seal(1);
    log.write(1, 0, EMPTY);
    written(() -> log.fill(1, 0));
    log.fill(1, 1);
    written(() -> log.write(1, 1, EMPTY));
    log.write(1, 2, EMPTY);
    log.trim(1, 2);
    log.trim(1, 3);
    written(() -> log.write(1, 3, EMPTY));
    written(() -> log.write(1, 2, EMPTY));
  }

  private interface Change {
    void at(long position) throws Exception;
  }

  private void raisesTheMaximum(Change change) throws Exception {
    seal(1);
    assertMax(1, -1);
    change.at(1);
    assertMax(1, 1);
    change.at(5);
    assertMax(1, 5);
    change.at(1000);
    assertMax(1, 1000);
    change.at(900);
    assertMax(1, 1000);
  }

  @Test
  void writeMaxPos() throws Exception {
    raisesTheMaximum(position -> log.write(1, position, EMPTY));
  }

  @Test
  void fillMaxPos() throws Exception {
    raisesTheMaximum(position -> log.fill(1, position));
  }

  @Test
  void trimMaxPos() throws Exception {
    raisesTheMaximum(position -> log.trim(1, position));
  }

  @Test
  void maxPosInvalidEpoch() throws Exception {
    seal(1);
    assertMax(1, -1);
    stale(() -> log.maxPosition(2, STRIPES));
    stale(() -> log.maxPosition(3, STRIPES));
    seal(3);
    for (long epoch : new long[] {1, 2, 4}) {
      stale(() -> log.maxPosition(epoch, STRIPES));
    }
    assertMax(3, -1);
  }

  @Test
  void readStaleEpoch() throws Exception {
    seal(10);
    for (long position = 0; position < 4; position++) {
      log.write(10, position, EMPTY);
    }
    assertEntry("", 10, 0);
    for (long epoch : new long[] {1, 2, 3, 7, 9}) {
      stale(() -> log.read(epoch, 0));
      stale(() -> log.read(epoch, 50));
    }
    assertEntry("", 11, 2);
    assertEntry("", 110, 3);
  }

  @Test
  void readNoPos() throws Exception {
    assertNotWritten(10, 0);
    seal(10);
    for (long position = 0; position < 3; position++) {
      assertNotWritten(10, position);
      log.write(10, position, EMPTY);
      assertEntry("", 10, position);
      assertEntry("", 13, position);
    }
    stale(() -> log.read(3, 2));
  }

  @Test
  void read() throws Exception {
    seal(10);
    log.write(10, 0, EMPTY);
    log.write(10, 1, "abc".getBytes());
    for (int i = 0; i < 2; i++) {
      assertEntry("", 10, 0);
      assertEntry("abc", 10, 1);
    }
    assertEquals(10, log.read(10, 1).getLong());
  }

  @Test
  void readFillTrim() throws Exception {
    seal(10);
    log.write(10, 0, EMPTY);
    log.fill(10, 1);
    assertNoEntry(10, 1);
    log.fill(10, 19);
    assertNoEntry(10, 19);
    for (long position : new long[] {0, 19, 10}) {
      log.trim(10, position);
      assertNoEntry(10, position);
    }
  }

  @Test
  void fillStaleEpoch() throws Exception {
    seal(10);
    log.fill(10, 0);
    for (long epoch : new long[] {1, 2, 3, 7, 9}) {
      stale(() -> log.fill(epoch, 0));
      stale(() -> log.fill(epoch, 50));
    }
    log.fill(10, 1);
    log.fill(11, 2);
    log.fill(110, 3);
    assertMax(10, 3);
  }

  @Test
  void fillIdempotent() throws Exception {
    seal(10);
    log.fill(10, 1);
    log.fill(10, 1);
    log.fill(11, 1);
    assertNoEntry(10, 1);
  }

  @Test
  void fillNoOverwrite() throws Exception {
    seal(10);
    log.write(10, 1, "lala".getBytes());
    written(() -> log.fill(10, 1));
    assertEntry("lala", 10, 1);
    // An entry without bytes is one.
    log.write(10, 2, EMPTY);
    written(() -> log.fill(10, 2));
  }

  @Test
  void trimStaleEpoch() throws Exception {
    seal(10);
    log.write(10, 0, EMPTY);
    for (long epoch : new long[] {1, 2, 3, 7, 9}) {
      stale(() -> log.trim(epoch, 0));
      stale(() -> log.trim(epoch, 50));
    }
    assertEntry("", 10, 0);
    log.trim(10, 0);
    log.trim(11, 2);
    log.trim(110, 3);
    assertMax(10, 3);
  }

  @Test
  void trimIdempotent() throws Exception {
    seal(10);
    log.trim(10, 1);
    log.trim(10, 1);
    assertNoEntry(10, 1);
  }

  @Test
  void trimOverwrite() throws Exception {
    seal(10);
    log.write(10, 1, "lala".getBytes());
    log.trim(10, 2);
    assertEntry("lala", 10, 1);
    log.trim(10, 1);
    assertNoEntry(10, 1);
    assertNoEntry(10, 2);
  }

  @Test
  void trimFill() throws Exception {
    seal(1);
    log.fill(1, 10);
    log.trim(1, 10);
    log.trim(1, 11);
    log.fill(1, 11);
  }

  @Test
  void seal() throws Exception {
    // Some keys are there, most are not.
    log.write(1, 7, EMPTY);
    seal(1);
    stale(() -> seal(1));
    for (long epoch = 2; epoch <= 4; epoch++) {
      seal(epoch);
    }
    for (long epoch = 1; epoch <= 4; epoch++) {
      long old = epoch;
      stale(() -> seal(old));
    }
    seal(10);
    stale(() -> seal(10));
    seal(11);
    seal(20);
    for (long epoch : new long[] {9, 10, 20}) {
      stale(() -> seal(epoch));
    }
    seal(21);
    assertEntry("", 21, 7);
  }

  @Test
  void aSealedCounterGivesNoPositionToOldEpochs() throws Exception {
    assertEquals(0, log.next(1));
    assertEquals(0, log.take(1));
    assertEquals(1, log.take(1));
    seal(2);
    stale(() -> log.take(1));
    stale(() -> log.next(1));
    stale(() -> log.advance(1, 9));
    assertEquals(2, log.take(2));
    log.advance(2, 2);
    assertEquals(3, log.next(2));
    log.advance(2, 9);
    assertEquals(9, log.take(2));
  }

  @Test
  void proposeView() throws Exception {
    head.create(LogShape.of(4, 1000), "");
    stale(() -> head.propose(1, "b"));
    head.propose(2, "b");
    head.propose(3, "");
    for (long epoch : new long[] {5, 6, 6000, 3, 2, 1}) {
      stale(() -> head.propose(epoch, "c"));
    }
    head.propose(4, "d");
    assertEquals(4, head.read().epoch());
  }

  @Test
  void readViews() throws Exception {
    head.create(LogShape.of(4, 1000), "1");
    for (long epoch = 2; epoch <= 300; epoch++) {
      head.propose(epoch, Long.toString(epoch));
    }
    LogHead.State state = head.read();
    assertEquals(LogHead.MOST_VIEWS, state.views().size());
    for (int i = 0; i < LogHead.MOST_VIEWS; i++) {
      long epoch = 300 - LogHead.MOST_VIEWS + 1 + i;
      assertEquals(new LogView(epoch, Long.toString(epoch)), state.views().get(i));
    }
  }

  @Test
  void stripesAreOpenedInThePresentEpochOnly() throws Exception {
    head.create(LogShape.of(4, 1000), "");
    assertEquals(3, head.open(1, 3));
    assertEquals(3, head.open(1, 2));
    assertEquals(3, head.propose(2, ""));
    stale(() -> head.open(1, 4));
    assertEquals(4, head.open(2, 4));
    assertEquals(4, head.propose(3, ""));
  }
}
