/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.HeldAnswer;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What the transport contract talks to: echoes, and misbehaves when it is asked to. Thread-safe.
 */
public final class EchoService implements Service {
  /** Opens a connection. */
  public static final int HELLO = 0;

  /** Answers with the request's body. */
  public static final int ECHO = 1;

  /** Answers with as many bytes as the first four say. */
  public static final int INFLATE = 2;

  /** Never answers. */
  public static final int IGNORE = 3;

  /** Answers with an error whose detail is the body. */
  public static final int REFUSE = 4;

  /** Takes the request for a breach of the protocol. */
  public static final int BREACH = 5;

  /** Fails with a bug. */
  public static final int BUG = 6;

  /** Answers with fewer bytes than it was sent, which {@link EchoCall} refuses. */
  public static final int TRUNCATE = 7;

  /** Answers with the request's body, when it has its turn and after some work. */
  public static final int LABOUR = 8;

  /**
   * Answers with the request's body, when the test releases it. The first four bytes say for how
   * many the answer counts, the next four after how many milliseconds it is overdue.
   */
  public static final int HOLD = 9;

  /** Answers with the request's body, once an answer that another connection holds is there. */
  public static final int AWAIT = 10;

  /** Answers with the request's body, which rests on nothing. */
  public static final int FREE = 11;

  /** An answer that is held. */
  public record Held(HeldAnswer answer, byte[] body) {
    /** Lets it leave; false when it has ended before. */
    public boolean release() {
      return answer.release(
          (responses, correlationId) -> {
            int at = responses.begin(body.length);
            responses.buffer().put(at, body);
            responses.end(correlationId, body.length);
          });
    }
  }

  private static final long LABOUR_NANOS = 200_000;
  private static final long STALL_LIMIT_SECONDS = 60;

  private final AtomicInteger served = new AtomicInteger();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();
  private final AtomicInteger mostLabour = new AtomicInteger();
  private final Queue<Long> numbers = new ConcurrentLinkedQueue<>();
  private final Queue<Held> held = new ConcurrentLinkedQueue<>();
  private final AtomicInteger offered = new AtomicInteger();
  private volatile boolean isAnswerThere;
  private volatile CountDownLatch stall;
  private volatile ErrorCode refusal;

  /** Creates a service that has served nothing. */
  public EchoService() {}

  /** Requests served, handshakes included. */
  public int served() {
    return served.get();
  }

  /** Handshakes served. */
  public int opened() {
    return opened.get();
  }

  /** Connections that have ended. */
  public int closed() {
    return closed.get();
  }

  /** The most requests for work that were served without a look at others. */
  public int mostLabour() {
    return mostLabour.get();
  }

  /** The first eight bytes of each echo that had so many, in the order of their coming. */
  public Queue<Long> numbers() {
    return numbers;
  }

  /** The answers that were held, in the order of their requests; the test takes them out. */
  public Queue<Held> held() {
    return held;
  }

  /** How often requests were offered that await the answer of another connection. */
  public int offered() {
    return offered.get();
  }

  /** Lets requests pass that await the answer of another connection. */
  public void answerIsThere() {
    isAnswerThere = true;
  }

  /** Makes the serving thread wait with the next request. */
  public void stall() {
    stall = new CountDownLatch(1);
  }

  /** Ends the wait. */
  public void resume() {
    CountDownLatch latch = stall;
    stall = null;
    if (latch != null) {
      latch.countDown();
    }
  }

  /** Answers handshakes with an error from now on, or no longer. */
  public void refuseHandshakes(ErrorCode code) {
    refusal = code;
  }

  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    CountDownLatch latch = stall;
    if (latch != null) {
      await(latch);
    }
    int laboured = 0;
    for (int i = 0; i < batch.count(); i++) {
      if (batch.opcode(i) == LABOUR) {
        if (!responses.hasTurn()) {
          batch.giveBackFrom(i);
          return;
        }
        labour();
        laboured++;
        mostLabour.accumulateAndGet(laboured, Math::max);
      }
      if (batch.opcode(i) == AWAIT) {
        offered.incrementAndGet();
        if (!isAnswerThere) {
          batch.session().waitForAnswer();
          batch.giveBackFrom(i);
          return;
        }
      }
      if (batch.opcode(i) == HOLD && responses.isFull()) {
        batch.giveBackFrom(i);
        return;
      }
      serve(batch, i, responses);
      served.incrementAndGet();
    }
  }

  private void serve(RequestBatch batch, int index, ResponseWriter responses)
      throws CrailException {
    ByteBuffer in = batch.buffer();
    int from = batch.bodyOffset(index);
    int length = batch.bodyLength(index);
    long correlationId = batch.correlationId(index);
    switch (batch.opcode(index)) {
      case HELLO:
        ErrorCode code = refusal;
        if (code != null) {
          responses.fail(correlationId, code, "refused");
          return;
        }
        opened.incrementAndGet();
        batch.session().attach(this);
        answer(responses, correlationId, in, from, length);
        return;
      case ECHO, LABOUR, AWAIT:
        if (length >= Long.BYTES) {
          numbers.add(in.getLong(from));
        }
        answer(responses, correlationId, in, from, length);
        return;
      case FREE:
        answer(responses, correlationId, in, from, length);
        responses.restsOnNothing();
        return;
      case INFLATE:
        int wanted = in.getInt(from);
        responses.begin(wanted);
        responses.end(correlationId, wanted);
        return;
      case HOLD:
        byte[] body = new byte[length];
        in.get(from, body);
        long timeoutNanos = in.getInt(from + Integer.BYTES) * 1_000_000L;
        HeldAnswer answer = new HeldAnswer(timeoutNanos, in.getInt(from));
        batch.session().hold(correlationId, answer, responses);
        held.add(new Held(answer, body));
        return;
      case IGNORE:
        return;
      case REFUSE:
        byte[] detail = new byte[length];
        in.get(from, detail);
        responses.fail(correlationId, ErrorCode.NODE_NOT_FOUND, new String(detail));
        return;
      case TRUNCATE:
        answer(responses, correlationId, in, from, length / 2);
        return;
      case BUG:
        throw new IllegalStateException("a bug, as asked for");
      default:
        throw ErrorCode.PROTOCOL.exception("opcode " + batch.opcode(index));
    }
  }

  @Override
  public void closed(Session session) {
    closed.incrementAndGet();
  }

  private static void labour() {
    long end = System.nanoTime() + LABOUR_NANOS;
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
  }

  private static void answer(
      ResponseWriter responses, long correlationId, ByteBuffer in, int from, int length) {
    int body = responses.begin(length);
    responses.buffer().put(body, in, from, length);
    responses.end(correlationId, length);
  }

  private static void await(CountDownLatch latch) {
    try {
      if (!latch.await(STALL_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the test has forgotten its stalled service");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
