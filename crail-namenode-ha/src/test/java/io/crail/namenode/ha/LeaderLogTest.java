/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.namenode.log.RecordBytes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests the log of a leader step by step, with peers and a clock that the test controls. */
class LeaderLogTest {
  private static final long LEASE = 1_000;
  private static final int KIND = 7;

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final List<Sent> sent = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private long now;
  private String shortage;
  private int ends;
  private final LeaderLog log =
      new LeaderLog(
          3,
          100,
          new Clock() {
            @Override
            public long nanoTime() {
              return now;
            }

            @Override
            public long currentTimeMillis() {
              return 0;
            }
          },
          tasks::add,
          this::send,
          LEASE,
          () -> shortage,
          () -> ends++,
          () -> failures.add("failed"));

  private record Sent(LogEntry entry, Consumer<Throwable> done) {}

  private void send(ByteBuffer entry, Consumer<Throwable> done) {
    try {
      byte[] copy = new byte[entry.remaining()];
      entry.get(copy);
      sent.add(new Sent(new LogEntry(ByteBuffer.wrap(copy)), done));
    } catch (java.io.IOException e) {
      throw new AssertionError(e);
    }
  }

  private void run() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private void append(String text) {
    log.append(KIND, RecordBytes.CODEC, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** All peers have the next entry. */
  private void agree(int index) {
    log.agreed(sent.get(index).entry.last());
    sent.get(index).done.accept(null);
    run();
  }

  private static List<String> texts(LogEntry entry, long from) throws Exception {
    List<String> texts = new ArrayList<>();
    entry.visit(
        from,
        (kind, bytes, offset, length) -> {
          assertEquals(KIND, kind);
          byte[] text = new byte[length];
          bytes.get(offset, text);
          texts.add(new String(text, StandardCharsets.UTF_8));
        });
    return texts;
  }

  @Test
  void recordsThatComeTogetherShareAnEntry() throws Exception {
    append("a");
    append("b");
    run();
    append("c");
    run();
    assertEquals(1, sent.size(), "little waits for what is under way");
    agree(0);
    assertEquals(2, sent.size());
    LogEntry first = sent.get(0).entry;
    assertEquals(3, first.term());
    assertEquals(101, first.first());
    assertEquals(102, first.last());
    assertEquals(List.of("a", "b"), texts(first, 0));
    assertEquals(List.of("b"), texts(first, 102), "a part");
    assertEquals(List.of("c"), texts(sent.get(1).entry, 103));
  }

  @Test
  void fewEntriesAreUnderWay() throws Exception {
    for (int i = 0; i < 10; i++) {
      append("x".repeat(35_000));
      run();
    }
    assertEquals(3, sent.size());
    agree(0);
    assertEquals(4, sent.size());
    assertEquals(7, sent.get(3).entry.count());
  }

  @Test
  void anEntryThatIsUnderWayForTooLongIsAStall() throws Exception {
    assertFalse(log.isStalled());
    append("a");
    run();
    now = TimeUnit.SECONDS.toNanos(LeaderLog.STALL_SECONDS) - 1;
    assertFalse(log.isStalled());
    now++;
    assertTrue(log.isNewlyStalled());
    assertFalse(log.isNewlyStalled(), "it is said once");
    assertTrue(log.isStalled());
    agree(0);
    assertFalse(log.isStalled());
  }

  @Test
  void anEntryThatKeepsTheLeaseUpDoesNotWaitForOthers() throws Exception {
    log.position();
    run();
    assertEquals(1, sent.size(), "there is no lease yet");
    append("a");
    run();
    assertEquals(2, sent.size());
    agree(0);
    append("b");
    run();
    assertEquals(2, sent.size(), "now there is one");
  }

  @Test
  void aRecordMayBeLongerThanAPage() throws Exception {
    String text = "x".repeat(300_000);
    append("a");
    append(text);
    append("b");
    run();
    List<String> all = new ArrayList<>();
    for (Sent each : sent) {
      all.addAll(texts(each.entry, 0));
    }
    assertEquals(List.of("a", text, "b"), all);
    assertTrue(sent.size() > 1);
  }

  @Test
  void answersWaitUntilThePeersAgree() {
    append("a");
    List<String> left = new ArrayList<>();
    long position = log.position();
    log.whenReached(position, () -> left.add("answer"));
    run();
    assertTrue(log.reached() < position);
    agree(0);
    assertEquals(List.of("answer"), left);
  }

  /** Another peer may lead, and what a reader sees here may be old. */
  @Test
  void aReaderWaitsWithoutALease() {
    long position = log.position();
    assertTrue(position > log.reached(), "the lease has not begun");
    run();
    now = 10;
    agree(0);
    assertEquals(position, log.reached());
    now = LEASE - 1;
    assertEquals(position, log.position());
    assertEquals(1, sent.size(), "the lease holds");
    now = LEASE;
    assertTrue(log.position() > log.reached(), "it counts from when the entry was sent");
    run();
    assertEquals(2, sent.size());
  }

  /** An entry on its way may have been agreed on before the reader has read. */
  @Test
  void anEntryThatWasSentBeforeProvesNothing() {
    append("a");
    run();
    now = 10;
    long position = log.position();
    agree(0);
    assertTrue(position > log.reached());
    run();
    agree(1);
    assertEquals(position, log.reached());
  }

  @Test
  void aLeaseIsRenewedWhileItIsUsed() {
    log.position();
    run();
    agree(0);
    now = LEASE / 2 + 1;
    log.tick();
    run();
    assertEquals(2, sent.size());
    agree(1);
    now += LEASE;
    log.tick();
    run();
    assertEquals(2, sent.size(), "not used since");
  }

  @Test
  void nothingIsAcknowledgedAfterTheEnd() {
    append("a");
    List<String> left = new ArrayList<>();
    log.whenReached(log.position(), () -> left.add(log.hasFailed() ? "dropped" : "answer"));
    run();
    assertTrue(log.end("another leads"));
    assertFalse(log.end("again"));
    assertEquals(List.of("dropped"), left);
    assertNull(log.refusal(), "no answer leaves, not even this one");
    append("b");
    run();
    assertEquals(1, sent.size());
  }

  /** An election that is asked for does not wait for the end of a lease. */
  @Test
  void nothingLeavesWhileTheLeadMoves() {
    log.position();
    run();
    agree(0);
    assertTrue(log.position() <= log.reached(), "there is a lease");
    assertTrue(log.pause());
    long position = log.position();
    assertTrue(position > log.reached());
    append("a");
    run();
    assertEquals(1, sent.size());
    log.goOn();
    assertTrue(log.position() > log.reached(), "the lease of before is over");
    run();
    agree(1);
    assertTrue(log.reached() >= position);
    assertTrue(log.position() <= log.reached());
    log.pause();
    log.end("another leads");
    log.goOn();
    assertTrue(log.position() > log.reached());
  }

  @Test
  void anEntryThatIsNotAgreedOnEndsIt() {
    append("a");
    run();
    sent.get(0).done.accept(new IllegalStateException("not the leader"));
    assertTrue(log.hasFailed());
    run();
    assertEquals(1, ends);
  }

  @Test
  void refusesWhileThePeersAreSlow() {
    assertNull(log.refusal());
    shortage = "no space";
    assertEquals("no space", log.refusal());
    shortage = null;
    String text = "x".repeat(60_000);
    for (int i = 0; i < 300; i++) {
      append(text);
    }
    assertNotNull(log.refusal());
    for (int i = 0; log.refusal() != null; i++) {
      run();
      agree(i);
    }
  }

  @Test
  void aRecordThatCannotBeWrittenEndsAll() {
    assertThrows(
        NullPointerException.class, () -> log.append(KIND, RecordBytes.CODEC, (ByteBuffer) null));
    run();
    assertTrue(log.hasFailed());
    assertEquals(List.of("failed"), failures);
  }
}
