/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
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
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** The form of handlers that may answer later. */
class OperationServerTest {
  private static final long TIMEOUT = 1_000_000_000L;

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final HeldAnswers table = new HeldAnswers(Clock.SYSTEM, tasks::add, 64 << 10);
  private final HeldAnswers.OfConnection connection = table.of(() -> {});
  private final Session session = new Session("test", connection);
  private final List<Outcome.Held<Ping.Response>> held = new ArrayList<>();
  private OperationServer server = server(Long.MAX_VALUE, null);

  private OperationServer server(long slowNanos, RateLimitedLog slowLog) {
    return OperationServer.builder(
            Map.of(
                NameNodeOperations.HELLO.number(), NameNodeOperations.HELLO,
                NameNodeOperations.PING.number(), NameNodeOperations.PING),
            NameNodeOperations.HELLO)
        .handle(
            NameNodeOperations.HELLO,
            (request, session) -> {
              throw new AssertionError("there is no greeting");
            })
        .handleOrHold(NameNodeOperations.PING, (request, session) -> ping(request))
        .reportSlow(slowNanos, slowLog, Clock.SYSTEM)
        .build();
  }

  /** A multiple of ten is answered now, what is negative never, the rest when it is released. */
  private Outcome<Ping.Response> ping(Ping.Request request) throws CrailException {
    if (request.data() < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("negative");
    }
    if (request.data() % 10 == 0) {
      return Outcome.now(new Ping.Response(request.data()));
    }
    Outcome.Held<Ping.Response> answer = Outcome.held(TIMEOUT, (int) request.data());
    held.add(answer);
    return answer;
  }

  /** Collects answers as text: correlation id, code, and the data of a ping. */
  private final class Answers extends ResponseWriter {
    private final ByteBuffer all = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      return all;
    }

    List<String> take() {
      List<String> answers = new ArrayList<>();
      for (int at = 0; at < written(); at += Frame.length(all, at)) {
        String code = ErrorCode.of(Frame.code(all, at)).toString();
        String data = code.equals("OK") ? " " + all.getLong(at + Frame.HEADER_LENGTH) : "";
        answers.add(Frame.correlationId(all, at) + " " + code + data);
      }
      detach();
      setFull(connection.isFull());
      return answers;
    }
  }

  private final Answers answers = new Answers();

  /** Serves pings; their correlation ids are 0 and up. Gives how many were served. */
  private int serve(long... pings) throws Exception {
    session.attach(this);
    session.accept(new Caller(Principal.ANYBODY, 1, Right.ALL));
    ByteBuffer in = ByteBuffer.allocate(1 << 14).order(ByteOrder.LITTLE_ENDIAN);
    RequestBatch batch = new RequestBatch(session);
    batch.reset(in);
    int length = Frame.HEADER_LENGTH + Long.BYTES;
    for (int i = 0; i < pings.length; i++) {
      int at = i * length;
      Frame.write(in, at, length, NameNodeOperations.PING.number(), Frame.KIND_REQUEST, i);
      in.putLong(at + Frame.HEADER_LENGTH, pings[i]);
      batch.add(at, length);
    }
    server.serve(batch, answers);
    return batch.count();
  }

  private List<String> takeReleased() {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
    while (connection.isAnyLeaving()) {
      connection.write(answers);
    }
    return answers.take();
  }

  @Test
  void answersNowOrWhenItIsReleased() throws Exception {
    assertEquals(5, serve(10, 11, -1, 20, 12));
    assertEquals(List.of("0 OK 10", "2 INVALID_ARGUMENT", "3 OK 20"), answers.take());
    assertEquals(5, server.counters(NameNodeOperations.PING).count());
    assertEquals(2, table.count());
    assertTrue(held.get(1).release(new Ping.Response(112)));
    assertEquals(List.of("4 OK 112"), takeReleased());
    assertTrue(held.get(0).fail(ErrorCode.NO_SPACE.exception("none")));
    assertFalse(held.get(0).release(new Ping.Response(1)));
    assertEquals(List.of("1 NO_SPACE"), takeReleased());
    assertEquals(0, table.bytes());
  }

  @Test
  void computesAnAnswerInTheThreadOfTheConnection() throws Exception {
    serve(1, 2);
    held.get(0)
        .release(
            () -> {
              session.attach("somebody");
              return new Ping.Response(101);
            });
    held.get(1)
        .release(
            () -> {
              throw new IllegalStateException("a bug");
            });
    assertEquals(this, session.attachment());
    assertEquals(List.of("0 OK 101", "1 INTERNAL"), takeReleased());
    assertEquals("somebody", session.attachment());
  }

  @Test
  void answersWhatWasReleasedBeforeItsHandlerHasReturned() throws Exception {
    OperationServer quick =
        OperationServer.builder(
                Map.of(NameNodeOperations.PING.number(), NameNodeOperations.PING),
                NameNodeOperations.PING)
            .handleOrHold(
                NameNodeOperations.PING,
                (request, session) -> {
                  Outcome.Held<Ping.Response> answer = Outcome.held(TIMEOUT, 0);
                  answer.release(new Ping.Response(request.data() + 1));
                  return answer;
                })
            .build();
    ByteBuffer in = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(in, 0, 24, NameNodeOperations.PING.number(), Frame.KIND_REQUEST, 5);
    RequestBatch batch = new RequestBatch(session);
    batch.reset(in);
    batch.add(0, 24);
    quick.serve(batch, answers);
    assertEquals(List.of("5 OK 1"), answers.take());
    assertEquals(0, table.count());
  }

  @Test
  void givesBackWhatItMayNotHold() throws Exception {
    // Each counts for a little more than its bytes; a connection may hold 12 KiB by itself.
    long[] pings = new long[20];
    Arrays.fill(pings, 4001);
    assertEquals(3, serve(pings));
    assertEquals(3, held.size());
    assertEquals(List.of(), answers.take());
    assertEquals(0, serve(10), "not even what is answered at once goes before");
    held.forEach(answer -> answer.release(new Ping.Response(1)));
    assertEquals(List.of("0 OK 1", "1 OK 1", "2 OK 1"), takeReleased());
    assertEquals(1, serve(10));
    assertEquals(0, table.bytes());
  }

  @Test
  void countsErrorsByTheirCodes() throws Exception {
    assertEquals(4, serve(10, -1, 20, -2));
    OperationCounters counters = server.counters(NameNodeOperations.PING);
    assertEquals(4, counters.count());
    assertEquals(2, counters.errors(ErrorCode.INVALID_ARGUMENT));
    assertEquals(0, counters.errors(ErrorCode.INTERNAL));
    assertTrue(counters.nanos() > 0);
    assertEquals(0, server.counters(NameNodeOperations.HELLO).count());
  }

  @Test
  void reportsWhatTakesLong() throws Exception {
    List<String> lines = new ArrayList<>();
    Logger logger =
        (Logger)
            Proxy.newProxyInstance(
                OperationServerTest.class.getClassLoader(),
                new Class<?>[] {Logger.class},
                (proxy, method, arguments) -> {
                  lines.add(String.valueOf(arguments[1]));
                  return null;
                });
    for (long leastNanos : new long[] {1, 3_600_000_000_000L}) {
      server = server(leastNanos, new RateLimitedLog(logger, Clock.SYSTEM));
      serve(10, 20, 30);
    }
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(
        lines
            .get(0)
            .matches("slow operation: ping of test took \\d+ us: .*10.*, together with 2 more"),
        lines.get(0));
  }
}
