/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.InvalidArgumentException;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.common.error.ParentNotFoundException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** The log as programs see it: the cases of ZLog's tests of its library, and takeovers. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class CrailLogTest {
  private static final byte[] EMPTY = {};

  private LogClusters cluster;
  private CrailStore store;

  private String path;
  private CrailLog log;

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
    path = "/" + test.getTestMethod().orElseThrow().getName();
    log = CrailLog.create(store, path, LogOptions.DEFAULT);
  }

  private void assertNoEntry(long position) {
    assertThrows(NoEntryException.class, () -> log.read(position));
  }

  private void assertNotWritten(long position) {
    assertThrows(NotWrittenException.class, () -> log.read(position));
  }

  @Test
  void createAndOpen() throws Exception {
    assertThrows(NodeExistsException.class, () -> CrailLog.create(store, path, LogOptions.DEFAULT));
    assertThrows(ParentNotFoundException.class, () -> CrailLog.open(store, "/missing"));
    String table = path + "-table";
    store
        .create(
            table, CrailNodeType.TABLE, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
    assertThrows(NodeNotFoundException.class, () -> CrailLog.open(store, table));
    byte[] entry = "oh the input".getBytes();
    log.append(entry);
    CrailLog again = CrailLog.open(cluster.store(), path);
    assertEquals(4096, again.maxEntry());
    for (int i = 0; i < 3; i++) {
      assertArrayEquals(entry, again.read(again.tail() - 1));
    }
    assertEquals(List.of(new LogView(1, "")), again.views());
    for (LogOptions wrong :
        List.of(
            LogOptions.DEFAULT.withWidth(0),
            LogOptions.DEFAULT.withWidth(65),
            LogOptions.DEFAULT.withMaxEntry(0),
            LogOptions.DEFAULT.withMaxEntry((60 << 10) + 1))) {
      assertThrows(
          InvalidArgumentException.class, () -> CrailLog.create(store, path + "-no", wrong));
    }
  }

  @Test
  void checkTail() throws Exception {
    assertEquals(0, log.tail());
    assertEquals(0, log.tail());
  }

  @Test
  void append() throws Exception {
    long tail = log.tail();
    for (int i = 0; i < 100; i++) {
      assertEquals(tail, log.append(EMPTY));
      tail = log.tail();
    }
    log.trim(tail);
    assertTrue(log.append(EMPTY) > tail);
  }

  @Test
  void fill() throws Exception {
    log.fill(0);
    log.fill(232);
    log.fill(232);
    long position = log.append(EMPTY);
    assertThrows(AlreadyWrittenException.class, () -> log.fill(position));
    log.trim(position);
    log.fill(position);
  }

  @Test
  void read() throws Exception {
    assertNotWritten(0);
    log.fill(0);
    assertNoEntry(0);
    assertNotWritten(232);
    log.fill(232);
    assertNoEntry(232);
    byte[] entry = "asdfasdfasdf".getBytes();
    long position = log.append(entry);
    assertArrayEquals(entry, log.read(position));
    log.trim(position);
    assertNoEntry(position);
    log.trim(456);
    assertNoEntry(456);
  }

  @Test
  void trim() throws Exception {
    log.trim(55);
    log.fill(60);
    log.trim(60);
    long position = log.append(EMPTY);
    log.trim(position);
    log.trim(70);
    log.trim(70);
    assertNoEntry(position);
  }

  @Test
  void entriesOfTheGreatestLengthFit() throws Exception {
    for (int most : new int[] {1, 1000, 4096, 30_000, 60 << 10}) {
      CrailLog full =
          CrailLog.create(store, path + most, LogOptions.DEFAULT.withMaxEntry(most).withWidth(2));
      byte[] entry = new byte[most];
      // More than the slots of all keys of a stripe.
      for (int i = 0; i < 150; i++) {
        Arrays.fill(entry, (byte) i);
        assertEquals(i, full.append(entry));
      }
      for (int i = 0; i < 150; i++) {
        Arrays.fill(entry, (byte) i);
        assertArrayEquals(entry, full.read(i));
      }
      full.takeOver("another");
      assertEquals(150, full.tail());
      byte[] longer = new byte[most + 1];
      assertThrows(InvalidArgumentException.class, () -> full.append(longer));
    }
  }

  @Test
  void positionsHaveARange() throws Exception {
    for (long wrong : new long[] {-1, 1 << 18, Long.MAX_VALUE}) {
      assertThrows(InvalidArgumentException.class, () -> log.write(wrong, EMPTY));
      assertThrows(InvalidArgumentException.class, () -> log.fill(wrong));
      assertThrows(InvalidArgumentException.class, () -> log.trim(wrong));
    }
    assertThrows(InvalidArgumentException.class, () -> log.read(-1));
    assertNotWritten(Long.MAX_VALUE);
    log.write(1 << 16, EMPTY);
    assertArrayEquals(EMPTY, log.read(1 << 16));
  }

  @Test
  void takeOverFindsTheMaximumPosition() throws Exception {
    log.append(EMPTY);
    log.write(300, EMPTY);
    log.fill(400);
    assertEquals(1, log.tail());
    assertEquals(new LogView(2, "a"), log.takeOver("a"));
    assertEquals(401, log.tail());
    log.trim(500);
    log.takeOver("b");
    assertEquals(501, log.append(EMPTY));
    log.takeOver("c");
    assertEquals(502, log.tail());
    assertEquals(
        List.of(new LogView(1, ""), new LogView(2, "a"), new LogView(3, "b"), new LogView(4, "c")),
        log.views());
  }

  @Test
  void anotherClientContinuesInTheNextView() throws Exception {
    CrailLog other = CrailLog.open(cluster.store(), path);
    assertEquals(0, other.append(EMPTY));
    for (int i = 1; i < 20; i++) {
      log.takeOver("log " + i);
      assertEquals(i, other.append(new byte[i]));
      assertArrayEquals(new byte[i], log.read(i));
    }
    log.takeOver("the last");
    assertEquals(20, other.tail());
    log.takeOver("the very last");
    other.trim(3);
    assertNoEntry(3);
  }

  /** What a client was about to send when another took over. */
  @Test
  void whatComesLateChangesNothing() throws Exception {
    CrailLog late = CrailLog.open(cluster.store(), path);
    long position = late.entries().take(1);
    late.entries().make(0, 1);
    assertEquals(1, late.head().open(1, 1));
    log.takeOver("another");
    assertThrows(StaleEpochException.class, () -> late.entries().write(1, position, EMPTY));
    assertThrows(StaleEpochException.class, () -> late.entries().trim(1, position));
    assertThrows(StaleEpochException.class, () -> late.entries().take(1));
    assertThrows(StaleEpochException.class, () -> late.head().open(1, 2));
    assertNotWritten(position);
    log.write(7, EMPTY);
    // These stripes have no entries yet.
    late.entries().make(1, 9);
    assertEquals(9, late.head().open(2, 9));
    log.takeOver("another");
    assertThrows(StaleEpochException.class, () -> late.entries().write(2, 900, EMPTY));
    log.fill(position);
    assertEquals(8, log.append(EMPTY));
  }

  /** A namenode that is started again has none of its keys. */
  @Test
  void aPartThatIsGoneIsNotTakenForAnEmptyOne() throws Exception {
    long kept = log.append(new byte[] {1});
    long gone = log.append(new byte[] {2});
    store.delete(path + "/entries-0-" + gone, false).get();
    assertThrows(LostPartException.class, () -> log.read(gone));
    assertThrows(LostPartException.class, () -> log.write(gone, EMPTY));
    assertThrows(LostPartException.class, () -> log.fill(gone));
    assertThrows(LostPartException.class, () -> log.trim(gone));
    assertArrayEquals(new byte[] {1}, log.read(kept));
    store.delete(path + "/tail", false).get();
    assertThrows(LostPartException.class, () -> log.append(EMPTY));
    assertThrows(LostPartException.class, () -> log.tail());
    assertThrows(LostPartException.class, () -> log.takeOver("another"));
    CrailLog other = CrailLog.open(store, path);
    assertThrows(LostPartException.class, () -> other.append(EMPTY));
    assertNotWritten(1_000_000);
  }

  @Test
  void aHoleIsFilledAndItsAppendGoesElsewhere() throws Exception {
    long hole = log.entries().take(1);
    log.append(EMPTY);
    log.fill(hole);
    assertNoEntry(hole);
    assertThrows(AlreadyWrittenException.class, () -> log.write(hole, EMPTY));
    for (long position = 2; position < 50; position++) {
      log.fill(position);
    }
    assertEquals(50, log.append(EMPTY));
  }

  /** A counter far beyond what is open, as clients leave it that end after taking positions. */
  @Test
  void anAppendIsNeverTooFar() throws Exception {
    log.takeOver("a counter");
    log.entries().advance(2, 1 << 20);
    assertEquals(1 << 20, log.append(EMPTY));
    assertArrayEquals(EMPTY, log.read(1 << 20));
  }

  @Test
  void aLogNeedNotBeSpread() throws Exception {
    String plain = path + "-plain";
    CrailLog one = CrailLog.create(store, plain, LogOptions.DEFAULT.withSpread(false));
    assertEquals(0, one.append("x".getBytes()));
    assertEquals(false, store.lookup(plain).get().asContainer().isSpread());
    store.delete(plain, true).get();
    assertThrows(ParentNotFoundException.class, () -> one.append(EMPTY));
  }
}
