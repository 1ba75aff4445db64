/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Ping;
import io.crail.rpc.Frame;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import io.crail.rpc.reply.ReplyCache;
import io.crail.rpc.reply.ReplyMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Answers of changes that are held: a request that comes again gets the same one. */
class HeldReplyTest {
  private static final long TIMEOUT = 1_000_000_000L;
  private static final long PATIENCE = 5_000_000_000L;
  private static final int SLOT = 3;
  private static final int LENGTH = Frame.HEADER_LENGTH + Long.BYTES;

  private static final Operation<Ping.Request, Ping.Response> CHANGE =
      new Operation<>(
          9,
          "change",
          Right.ANY,
          Ping.Request.CODEC,
          Ping.Response.CODEC,
          true,
          NameNodeOperations.PING.routing(),
          "Changes something");

  private long now = 1;
  private long used;
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
  private final ReplyCache cache =
      new ReplyCache(
          clock,
          new ReplyMemory() {
            @Override
            public boolean take(long bytes) {
              used += bytes;
              return true;
            }

            @Override
            public boolean takeReserved(long bytes) {
              return take(bytes);
            }

            @Override
            public void add(long bytes) {
              used += bytes;
            }

            @Override
            public void give(long bytes) {
              used -= bytes;
            }
          });
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final HeldAnswers table = new HeldAnswers(clock, tasks::add, 1 << 20);
  private final Map<Long, Outcome.Held<Ping.Response>> held = new HashMap<>();
  private final List<Long> served = new ArrayList<>();
  private final OperationServer server =
      OperationServer.builder(Map.of(9, CHANGE)).handleOrHold(CHANGE, this::change).build();

  /** What can be divided by ten is answered now, the rest when it is released. */
  private Outcome<Ping.Response> change(Ping.Request request, Session session) {
    served.add(request.data());
    if (request.data() % 10 == 0) {
      return Outcome.now(new Ping.Response(request.data()));
    }
    Outcome.Held<Ping.Response> answer = Outcome.held(TIMEOUT, 10);
    held.put(request.data(), answer);
    return answer;
  }

  /** A connection of the only peer. */
  private final class Connection {
    final HeldAnswers.OfConnection answers = table.of(() -> {});
    final Session session = new Session("test", answers);
    final Writer writer = new Writer();

    Connection() {
      session.accept(new Caller(Principal.ANYBODY, 1, Right.ALL));
      session.remember(cache.opened(Principal.ANYBODY, 1, 1, PATIENCE));
    }

    /** Sends a change under its number. Gives its answer, or what became of it. */
    String send(long number) throws Exception {
      ByteBuffer in = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
      long id = Frame.correlationId(number, SLOT);
      Frame.write(in, 0, LENGTH, CHANGE.number(), Frame.KIND_REQUEST, id);
      in.putLong(Frame.HEADER_LENGTH, number);
      RequestBatch batch = new RequestBatch(session);
      batch.reset(in);
      batch.add(0, LENGTH);
      server.serve(batch, writer);
      List<String> all = writer.take();
      return batch.count() == 0 ? "waits" : all.isEmpty() ? "held" : all.get(0);
    }

    List<String> leaving() {
      while (answers.isAnyLeaving()) {
        answers.write(writer);
      }
      return writer.take();
    }

    void close() {
      answers.close();
      cache.closed(session.replies());
    }
  }

  /** Collects answers as text: number and code, or the data. */
  private static final class Writer extends ResponseWriter {
    private final ByteBuffer all = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      return all;
    }

    List<String> take() {
      List<String> answers = new ArrayList<>();
      for (int at = 0; at < written(); at += Frame.length(all, at)) {
        ErrorCode code = ErrorCode.of(Frame.code(all, at));
        answers.add(
            Frame.sequence(Frame.correlationId(all, at))
                + " "
                + (code == ErrorCode.OK ? all.getLong(at + Frame.HEADER_LENGTH) : code));
      }
      detach();
      return answers;
    }
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
  }

  private void release(long number) {
    assertTrue(held.get(number).release(new Ping.Response(number * 100)));
    runTasks();
  }

  @Test
  void aRepeatWaitsForTheAnswerThatIsHeld() throws Exception {
    Connection first = new Connection();
    Connection second = new Connection();
    assertEquals("held", first.send(1));
    assertFalse(second.session.takeWaitsForAnswer());
    assertEquals("waits", second.send(1));
    assertTrue(second.session.takeWaitsForAnswer());
    assertEquals("waits", second.send(2), "a later one in its slot");
    release(1);
    assertEquals("waits", second.send(1), "it has not left");
    assertEquals(List.of("1 100"), first.leaving());
    assertEquals("1 100", second.send(1));
    assertEquals("1 100", first.send(1));
    assertEquals("held", second.send(2));
    assertEquals(List.of(1L, 2L), served);
  }

  @Test
  void anAnswerIsRememberedWhoseConnectionIsGone() throws Exception {
    Connection first = new Connection();
    assertEquals("held", first.send(1));
    first.close();
    Connection second = new Connection();
    assertEquals("waits", second.send(1));
    release(1);
    assertEquals("1 100", second.send(1));
    assertEquals(List.of(), first.leaving());
    assertEquals("held", second.send(2));
    assertTrue(held.get(2L).fail(ErrorCode.NO_SPACE.exception("none")));
    second.close();
    runTasks();
    Connection third = new Connection();
    assertEquals("2 NO_SPACE", third.send(2), "it was released before the end");
    assertEquals("held", third.send(3));
    release(3);
    third.close();
    assertEquals("3 300", new Connection().send(3), "it could have left before the end");
    assertEquals(List.of(1L, 2L, 3L), served);
    assertEquals(0, table.count());
    assertEquals(0, table.bytes());
  }

  @Test
  void whatIsAnsweredAtOnceIsRememberedToo() throws Exception {
    Connection first = new Connection();
    assertEquals("10 10", first.send(10));
    assertEquals("10 10", first.send(10));
    assertEquals(List.of(10L), served);
  }

  @Test
  void anAnswerThatWasHeldTooLongStaysTheAnswer() throws Exception {
    Connection first = new Connection();
    first.send(1);
    first.close();
    now += TIMEOUT;
    table.sweep(now);
    assertEquals("1 TIMED_OUT", new Connection().send(1));
    assertFalse(held.get(1L).release(new Ping.Response(5)));
    assertEquals(0, table.count());
    assertEquals(List.of(1L), served);
  }

  @Test
  void aPeerIsRememberedAsLongAsItsAnswerIsHeld() throws Exception {
    Connection first = new Connection();
    first.send(1);
    first.close();
    now += PATIENCE;
    cache.tick();
    assertEquals(1, cache.size());
    release(1);
    now += PATIENCE;
    cache.tick();
    assertEquals(0, cache.size());
    assertEquals(0, used);
  }

  /** A client loses connections and sends its request again until it has the answer. */
  @Test
  void eachRequestIsServedOnceAndAnsweredAlike() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("crail.seed=" + seed);
    Random random = new Random(seed);
    Connection connection = new Connection();
    long number = 1;
    Set<String> seen = new HashSet<>();
    for (int step = 0; step < 20_000; step++) {
      String answer = null;
      switch (random.nextInt(6)) {
        case 0 -> {
          Connection old = connection;
          boolean late = random.nextBoolean();
          if (!late) {
            old.close();
          }
          connection = new Connection();
          if (late) {
            old.close();
          }
        }
        case 1 -> {
          if (held.containsKey(number)) {
            held.get(number).release(new Ping.Response(number * 100));
          }
        }
        case 2 -> runTasks();
        case 3 -> {
          now += random.nextInt(50_000_000);
          table.sweep(now);
          cache.tick();
        }
        case 4 -> {
          List<String> left = connection.leaving();
          answer = left.isEmpty() ? null : left.get(left.size() - 1);
        }
        default -> answer = connection.send(number);
      }
      if (answer != null && answer.startsWith(number + " ")) {
        seen.add(answer);
        assertEquals(1, seen.size(), seen::toString);
        if (random.nextInt(3) == 0) {
          number++;
          seen.clear();
        }
      }
    }
    assertTrue(number > 100, number + " requests");
    assertEquals(new HashSet<>(served).size(), served.size(), "one was served again");
    runTasks();
    connection.close();
    runTasks();
    now += TIMEOUT;
    table.sweep(now);
    runTasks();
    assertEquals(0, table.count());
    assertEquals(0, table.bytes());
    now += 2 * PATIENCE;
    cache.tick();
    assertEquals(0, used);
  }
}
