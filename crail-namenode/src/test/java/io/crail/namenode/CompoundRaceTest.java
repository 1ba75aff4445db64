/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Steps.append;
import static io.crail.namenode.Steps.create;
import static io.crail.namenode.Steps.of;
import static io.crail.namenode.Steps.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.Comparison;
import io.crail.compound.StepKind;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.NodeType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many clients operate on one key at one time: each guard and what it guards are one step. */
@Timeout(120)
class CompoundRaceTest {
  private static final int WRITERS = 32;
  private static final int EPOCHS = 8;

  /** Appends of a writer that waits for the seal, so that the key never becomes full. */
  private static final int MOST_APPENDS = 200;

  private static final int LISTS = 1000;
  private static final int WIRES = 4;
  private static final int ROUNDS = 5;
  private static final int LIFETIME_MILLIS = 1000;
  private static final int STEP_MILLIS = 50;

  private final PausingClock clock = new PausingClock();
  private final ExecutorService threads = Executors.newFixedThreadPool(WRITERS + 1);
  private TestStore store;

  @BeforeEach
  void start() throws Exception {
    store = new TestStore(clock, 0, 1);
    store.create(NodeType.TABLE, "/t", 0);
  }

  @AfterEach
  void nothingIsLost() throws Exception {
    clock.proceed();
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    store.namenode.verify();
  }

  /** Stops one thread between the guards of a list and its change, under the lock of the node. */
  private static final class PausingClock extends ManualClock {
    private final AtomicReference<CountDownLatch> pause = new AtomicReference<>();
    private volatile CountDownLatch go = new CountDownLatch(0);

    /** The next change of a list stops, and counts the result down. */
    CountDownLatch pauseNext() {
      CountDownLatch reached = new CountDownLatch(1);
      go = new CountDownLatch(1);
      pause.set(reached);
      return reached;
    }

    void proceed() {
      go.countDown();
    }

    @Override
    public long currentTimeMillis() {
      if (pause.get() != null && isApplying()) {
        CountDownLatch reached = pause.getAndSet(null);
        if (reached != null) {
          reached.countDown();
          await(go);
        }
      }
      return super.currentTimeMillis();
    }

    private static boolean isApplying() {
      return StackWalker.getInstance()
          .walk(
              frames ->
                  frames.anyMatch(
                      frame ->
                          frame.getClassName().endsWith(".CompoundRule")
                              && frame.getMethodName().equals("apply")));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(60, TimeUnit.SECONDS), "not within its time");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Operate.Request list(CompoundStep... steps) {
    return new Operate.Request(0640, Utf8.of("/t/k"), List.of(steps));
  }

  private static Operate.Response operate(Wire wire, CompoundStep... steps) throws CrailException {
    return wire.call(NameNodeOperations.OPERATE, list(steps));
  }

  private static boolean isDone(Operate.Response response) {
    return response.failed() == Operate.NONE_FAILED;
  }

  private Operate.Response done(CompoundStep... steps) throws CrailException {
    Operate.Response response = operate(store.wire, steps);
    assertTrue(isDone(response), response.toString());
    return response;
  }

  private String bytes() throws CrailException {
    return new String(
        done(read(0, 64 << 10)).results().get(0).data().bytes(), StandardCharsets.UTF_8);
  }

  /** Where a writer is while the key is sealed. */
  private enum Stop {
    /** It has learned the epoch, and sends its list later. */
    KNOWS,
    /** Its list was served, and it has not read the answer. */
    SERVED,
    /** Its list was served and the answer was lost, so it sends the list again. */
    SENT_AGAIN,
    /** Its list waits for the lock of the node, and it sends more after that. */
    WAITS,
    /** Its guard holds and its bytes are not there yet. */
    INSIDE
  }

  /** A client that appends the letter of the epoch that it knows. */
  private final class Writer {
    private Wire wire;
    private volatile Thread thread;

    Writer(int number) throws CrailException {
      wire = Wire.connect(store.server, 100 + number);
    }

    /** Returns how many appends were acknowledged. */
    int write(Stop stop, long epoch, CountDownLatch stopped, CountDownLatch sealed)
        throws Exception {
      thread = Thread.currentThread();
      CompoundStep[] list = {
        of(StepKind.EPOCH, Comparison.AT_MOST, epoch),
        of(StepKind.SIZE, Comparison.LESS, 60_000),
        append(letter(epoch))
      };
      if (stop == Stop.KNOWS) {
        stopped.countDown();
        CompoundRaceTest.await(sealed);
        assertFalse(isDone(operate(wire, list)));
        return 0;
      }
      Operate.Response answer = operate(wire, list);
      if (stop == Stop.WAITS) {
        int acknowledged = 0;
        while (isDone(answer)) {
          acknowledged++;
          if (acknowledged == MOST_APPENDS) {
            break;
          }
          answer = operate(wire, list);
        }
        return acknowledged;
      }
      assertTrue(isDone(answer), answer.toString());
      if (stop != Stop.INSIDE) {
        stopped.countDown();
        CompoundRaceTest.await(sealed);
      }
      if (stop == Stop.SENT_AGAIN) {
        Wire lost = wire;
        wire = lost.replacement();
        lost.close();
        assertEquals(answer.toString(), operate(wire, list).toString());
      }
      return 1;
    }
  }

  private static String letter(long epoch) {
    return String.valueOf((char) ('A' + epoch));
  }

  /**
   * A seal comes while each of many writers is at a step of its own. Nothing old appears after it,
   * and all that was acknowledged is there.
   */
  @Test
  void whatIsAddedAfterASealNeverAppears() throws Exception {
    done(create());
    List<Writer> writers = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new Writer(i));
    }
    Wire sealer = Wire.connect(store.server, 99);
    Stop[] stops = Stop.values();
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      long old = epoch;
      List<Integer> waiting = new ArrayList<>();
      List<Future<Integer>> writing = new ArrayList<>();
      CountDownLatch sealed = new CountDownLatch(1);
      CountDownLatch stopped = new CountDownLatch(3 * (WRITERS / 4));
      for (int i = 0; i < WRITERS; i++) {
        Writer writer = writers.get(i);
        Stop stop = stops[(i + epoch) % 4];
        if (stop != Stop.WAITS) {
          writing.add(threads.submit(() -> writer.write(stop, old, stopped, sealed)));
        } else {
          waiting.add(i);
        }
      }
      await(stopped);
      final CountDownLatch reached = clock.pauseNext();
      Writer first = writers.get(waiting.remove(epoch % waiting.size()));
      writing.add(threads.submit(() -> first.write(Stop.INSIDE, old, stopped, sealed)));
      await(reached);
      for (int i : waiting) {
        Writer writer = writers.get(i);
        writer.thread = null;
        writing.add(threads.submit(() -> writer.write(Stop.WAITS, old, stopped, sealed)));
      }
      AtomicReference<Thread> sealing = new AtomicReference<>();
      Future<Operate.Response> seal =
          threads.submit(
              () -> {
                sealing.set(Thread.currentThread());
                return operate(sealer, of(StepKind.RAISE_EPOCH, old + 1), of(StepKind.READ_SIZE));
              });
      awaitBlocked(sealing::get);
      for (int i : waiting) {
        awaitBlocked(() -> writers.get(i).thread);
      }
      assertFalse(seal.isDone());
      clock.proceed();
      Operate.Response answer = seal.get(60, TimeUnit.SECONDS);
      assertTrue(isDone(answer), answer.toString());
      sealed.countDown();
      int acknowledged = 0;
      for (Future<Integer> each : writing) {
        acknowledged += each.get(60, TimeUnit.SECONDS);
      }
      String all = bytes();
      assertEquals(answer.size(), all.length(), "added after the seal");
      long present = all.chars().filter(each -> each == letter(old).charAt(0)).count();
      assertEquals(acknowledged, present, "acknowledged and present in epoch " + epoch);
      assertTrue(acknowledged >= 2 * WRITERS / 4 + 1, acknowledged + " appends");
    }
  }

  private static void awaitBlocked(Callable<Thread> thread) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (thread.call() == null || thread.call().getState() != Thread.State.BLOCKED) {
      assertTrue(System.nanoTime() - deadline < 0, "a list does not wait for the one before it");
      Thread.sleep(1);
    }
  }

  /** Of all lists with a guard for one version, one is done. */
  @Test
  void oneOfManyGuardsForAVersionHolds() throws Exception {
    Operate.Response made = done(create());
    List<Wire> wires = new ArrayList<>();
    for (int i = 0; i < WIRES; i++) {
      wires.add(Wire.connect(store.server, 100 + i));
    }
    CyclicBarrier barrier = new CyclicBarrier(WIRES);
    for (int round = 0; round < ROUNDS; round++) {
      Operate.Request guarded =
          list(
              of(StepKind.EXISTS),
              of(StepKind.ID, made.id()),
              of(StepKind.EPOCH, Comparison.AT_MOST, 0),
              of(StepKind.VERSION, made.version() + round),
              append("x"));
      List<Operate.Request> requests = Collections.nCopies(LISTS / WIRES, guarded);
      List<Future<List<Object>>> all = new ArrayList<>();
      for (Wire wire : wires) {
        all.add(
            threads.submit(
                () -> {
                  barrier.await(60, TimeUnit.SECONDS);
                  return wire.callAll(NameNodeOperations.OPERATE, requests);
                }));
      }
      int winners = 0;
      int losers = 0;
      for (Future<List<Object>> answers : all) {
        for (Object answer : answers.get(60, TimeUnit.SECONDS)) {
          Operate.Response response = (Operate.Response) answer;
          if (isDone(response)) {
            winners++;
            assertEquals(made.version() + round + 1, response.version());
          } else {
            losers++;
            assertEquals(3, response.failed());
            assertEquals(ErrorCode.CONDITION_FAILED.number(), response.results().get(3).code());
          }
        }
      }
      assertEquals(1, winners, "round " + round);
      assertEquals(LISTS - 1, losers);
    }
    assertEquals("x".repeat(ROUNDS), bytes());
  }

  /** The lifetime of a key ends beside lists whose guard wants it: they do all, or find nothing. */
  @Test
  void noGuardHoldsAfterTheEnd() throws Exception {
    Operate.Response made = done(create(), of(StepKind.EXPIRE, LIFETIME_MILLIS));
    AtomicBoolean isGone = new AtomicBoolean();
    AtomicLong served = new AtomicLong();
    Operate.Request guarded =
        list(of(StepKind.ID, made.id()), append("x"), of(StepKind.TRUNCATE, 0), append("y"));
    List<Operate.Request> requests = Collections.nCopies(LISTS / WIRES, guarded);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < WIRES; i++) {
      Wire wire = Wire.connect(store.server, 100 + i);
      all.add(
          threads.submit(
              () -> {
                boolean ends = false;
                while (!ends) {
                  boolean wasGone = isGone.get();
                  for (Object answer : wire.callAll(NameNodeOperations.OPERATE, requests)) {
                    Operate.Response response = (Operate.Response) answer;
                    assertFalse(isDone(response) && (ends || wasGone), "after the end");
                    if (!isDone(response)) {
                      ends = true;
                      assertEquals(0, response.failed(), response.toString());
                      assertEquals(
                          ErrorCode.NODE_NOT_FOUND.number(), response.results().get(0).code());
                    }
                    served.incrementAndGet();
                  }
                  isGone.compareAndSet(false, ends);
                }
                return null;
              }));
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    int steps = 0;
    for (long before = 0; !isGone.get() && all.stream().noneMatch(Future::isDone); ) {
      assertTrue(System.nanoTime() - deadline < 0, "it does not end");
      if (served.get() > before) {
        before = served.get();
        clock.advanceMillis(STEP_MILLIS);
        steps++;
        store.namenode.tick();
      }
      Thread.onSpinWait();
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertTrue(steps >= LIFETIME_MILLIS / STEP_MILLIS, "it ended after " + steps + " steps");
    assertTrue(served.get() > LISTS, served + " lists");
  }
}
