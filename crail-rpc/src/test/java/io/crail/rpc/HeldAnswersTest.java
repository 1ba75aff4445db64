/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class HeldAnswersTest {
  private static final long MOST = 64 << 10;
  private static final long TIMEOUT = 1_000;

  private long now = 1;
  private final Clock clock =
      new Clock() {
        @Override
        public long nanoTime() {
          return now;
        }

        @Override
        public long currentTimeMillis() {
          return now;
        }
      };
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private Throwable tooFull;
  private final HeldAnswers table = new HeldAnswers(clock, this::take, MOST);

  private void take(Runnable task) {
    if (tooFull instanceof Error error) {
      throw error;
    } else if (tooFull instanceof RuntimeException refusal) {
      throw refusal;
    }
    tasks.add(task);
  }

  /** A connection that writes the answers that may leave when it gets a turn. */
  private final class Connection {
    int turns;
    final List<Long> answered = new ArrayList<>();
    final List<Integer> codes = new ArrayList<>();
    final HeldAnswers.OfConnection held = table.of(() -> turns++);
    final Session session = new Session("test", held);
    final ResponseWriter responses =
        new ResponseWriter() {
          private final ByteBuffer all =
              ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

          @Override
          protected ByteBuffer nextBuffer(int written, int needed) {
            return all;
          }
        };

    HeldAnswer hold(long correlationId, int bytes) {
      HeldAnswer answer = new HeldAnswer(TIMEOUT, bytes);
      session.hold(correlationId, answer, responses);
      return answer;
    }

    boolean release(HeldAnswer answer) {
      return answer.release(
          (to, correlationId) -> {
            answered.add(correlationId);
            codes.add(0);
          });
    }

    void writeAll() {
      while (held.isAnyLeaving()) {
        held.write(responses);
      }
    }
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
  }

  private void expectHeld(int count) {
    assertEquals(count, table.count());
    assertEquals(count * (long) HeldAnswers.OVERHEAD_BYTES, table.bytes());
  }

  @Test
  void leavesInTheOrderOfItsRelease() {
    Connection one = new Connection();
    HeldAnswer first = one.hold(1, 0);
    HeldAnswer second = one.hold(2, 0);
    final HeldAnswer third = one.hold(3, 0);
    expectHeld(3);
    assertFalse(one.held.isAnyLeaving());
    assertTrue(one.release(third));
    assertTrue(one.release(first));
    assertFalse(one.release(first));
    assertEquals(1, tasks.size(), "one task for both");
    assertFalse(one.held.isAnyLeaving(), "other threads touch no connection");
    runTasks();
    assertEquals(1, one.turns);
    expectHeld(3);
    one.writeAll();
    assertEquals(List.of(3L, 1L), one.answered);
    expectHeld(1);
    assertTrue(one.release(second));
    runTasks();
    assertEquals(2, one.turns);
    one.writeAll();
    assertEquals(List.of(3L, 1L, 2L), one.answered);
    expectHeld(0);
  }

  @Test
  void writesAtOnceWhatWasReleasedBeforeItIsHeld() {
    Connection one = new Connection();
    HeldAnswer answer = new HeldAnswer(TIMEOUT, 0);
    assertTrue(one.release(answer));
    assertTrue(one.answered.isEmpty());
    one.session.hold(7, answer, one.responses);
    assertEquals(List.of(7L), one.answered);
    expectHeld(0);
    assertTrue(tasks.isEmpty());
    assertFalse(one.release(answer));
  }

  @Test
  void endsAtTheDeadline() {
    Connection one = new Connection();
    HeldAnswer early = one.hold(1, 0);
    now += 10;
    final HeldAnswer late = one.hold(2, 0);
    now += TIMEOUT - 11;
    table.sweep(now);
    assertFalse(one.held.isAnyLeaving());
    now++;
    table.sweep(now);
    assertTrue(one.held.isAnyLeaving());
    assertFalse(one.release(early));
    one.writeAll();
    assertEquals(
        ErrorCode.TIMED_OUT.number(), Frame.code(one.responses.buffer(), 0), "it was answered");
    expectHeld(1);
    // The next deadline is known though the table was not looked at since.
    now += 10;
    table.sweep(now);
    one.writeAll();
    assertFalse(one.release(late));
    expectHeld(0);
    // Nor does an old deadline keep a new one from passing.
    HeldAnswer last = one.hold(3, 0);
    now += TIMEOUT;
    table.sweep(now);
    assertFalse(one.release(last));
  }

  @Test
  void doesNotEndWhatWasReleased() {
    Connection one = new Connection();
    HeldAnswer answer = one.hold(1, 0);
    assertTrue(one.release(answer));
    now += TIMEOUT;
    table.sweep(now);
    runTasks();
    one.writeAll();
    assertEquals(List.of(1L), one.answered);
    expectHeld(0);
  }

  @Test
  void forgetsWhatAConnectionHeld() {
    Connection one = new Connection();
    Connection two = new Connection();
    final HeldAnswer held = one.hold(1, 0);
    final HeldAnswer other = two.hold(1, 0);
    HeldAnswer leaving = one.hold(2, 0);
    one.release(leaving);
    runTasks();
    HeldAnswer released = one.hold(3, 0);
    one.release(released);
    one.held.close();
    one.held.close();
    expectHeld(1);
    runTasks();
    assertFalse(one.release(held));
    assertFalse(one.held.isAnyLeaving());
    // In the midst of a batch that its end has interrupted.
    HeldAnswer afterwards = one.hold(4, 0);
    assertFalse(one.release(afterwards));
    expectHeld(1);
    now += TIMEOUT;
    table.sweep(now);
    assertFalse(two.release(other));
    two.writeAll();
    expectHeld(0);
    assertTrue(one.answered.isEmpty());
  }

  @Test
  void isFullByWhatIsLeft() {
    Connection one = new Connection();
    Connection two = new Connection();
    assertFalse(one.held.isFull());
    List<HeldAnswer> answers = new ArrayList<>();
    while (!one.responses.isFull()) {
      answers.add(one.hold(answers.size(), 1000));
    }
    // A fifth of three quarters: a quarter of what is left by itself too.
    assertEquals(MOST * 3 / 4 / 5, table.bytes(), 2000);
    assertTrue(one.held.isFull());
    two.hold(0, 1000);
    assertFalse(two.held.isFull(), "others have room");
    List<Connection> more = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Connection next = new Connection();
      more.add(next);
      assertFalse(next.held.isFull(), "each may hold one");
      next.hold(i, 0);
    }
    assertTrue(more.get(999).responses.isFull());
    more.forEach(connection -> connection.held.close());
    answers.forEach(one::release);
    runTasks();
    one.writeAll();
    assertFalse(one.held.isFull());
    two.held.close();
    expectHeld(0);
  }

  @Test
  void handsManyToTheirConnectionsInSeveralTasks() {
    List<Connection> connections = new ArrayList<>();
    List<HeldAnswer> answers = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      if (i % 500 == 0) {
        connections.add(new Connection());
      }
      answers.add(connections.get(i / 500).hold(i, 0));
    }
    for (int i = 0; i < 5_000; i++) {
      connections.get(i / 500).release(answers.get(i));
    }
    int runs = 0;
    while (!tasks.isEmpty()) {
      assertEquals(1, tasks.size());
      tasks.poll().run();
      runs++;
    }
    assertEquals(5, runs);
    for (Connection connection : connections) {
      connection.writeAll();
      assertEquals(500, connection.answered.size());
    }
    expectHeld(0);
  }

  @Test
  void keepsItsAccountsWhateverHappens() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<Connection> connections = new ArrayList<>();
    List<HeldAnswer> answers = new ArrayList<>();
    List<Connection> owners = new ArrayList<>();
    Set<HeldAnswer> released = new HashSet<>();
    for (int step = 0; step < 20_000; step++) {
      int what = random.nextInt(100);
      if (connections.isEmpty() || what < 3) {
        connections.add(new Connection());
      }
      int at = random.nextInt(connections.size());
      Connection connection = connections.get(at);
      if (what < 40) {
        answers.add(connection.hold(step, 0));
        owners.add(connection);
      } else if (what < 70 && !answers.isEmpty()) {
        int which = random.nextInt(answers.size());
        if (owners.get(which).release(answers.get(which))) {
          assertTrue(released.add(answers.get(which)), "released twice");
        }
      } else if (what < 80) {
        runTasks();
      } else if (what < 90) {
        connection.writeAll();
      } else if (what < 92) {
        connection.held.close();
        connections.remove(at);
      } else {
        now += random.nextInt(100);
        table.sweep(now);
      }
    }
    runTasks();
    now += TIMEOUT;
    table.sweep(now);
    connections.forEach(Connection::writeAll);
    expectHeld(0);
  }

  @Test
  void leavesLaterWhenTheThreadCouldNotTakeTheTask() {
    for (Throwable refusal : List.of(new OutOfMemoryError(), new IllegalStateException())) {
      Connection one = new Connection();
      HeldAnswer answer = one.hold(1, 0);
      tooFull = refusal;
      assertThrows(refusal.getClass(), () -> one.release(answer));
      tooFull = null;
      table.sweep(now);
      one.writeAll();
      assertEquals(List.of(1L), one.answered);
      HeldAnswer next = one.hold(2, 0);
      assertTrue(one.release(next));
      runTasks();
      one.writeAll();
      assertEquals(List.of(1L, 2L), one.answered);
      expectHeld(0);
    }
  }

  @Test
  void mayBeReleasedAfterTheThreadHasEnded() {
    HeldAnswers ended =
        new HeldAnswers(
            clock,
            task -> {
              throw new RejectedExecutionException();
            },
            MOST);
    HeldAnswers.OfConnection held = ended.of(() -> {});
    HeldAnswer answer = new HeldAnswer(TIMEOUT, 0);
    held.hold(1, answer, null, null);
    assertTrue(answer.release((responses, correlationId) -> {}));
    held.close();
    assertEquals(0, ended.count());
  }
}
