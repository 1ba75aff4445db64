/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.CommitGate;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.login.Principal;
import io.crail.rpc.reply.Replies;
import io.crail.rpc.reply.Reply;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Dispatches requests to handlers by the table. Every operation needs exactly one handler; {@link
 * Builder#build} fails otherwise. Until a session has a caller, only the operations of the
 * handshake are served; any other one ends the connection. A request that changes something is
 * served once: if the peer sends it again, it gets the first answer. Thread-safe if the handlers
 * are.
 */
public final class OperationServer implements Service {
  /**
   * Serves one request.
   *
   * @param <Q> the request
   * @param <R> the response
   */
  @FunctionalInterface
  public interface Handler<Q, R> {
    /**
     * Serves a request to completion.
     *
     * @throws CrailException when it is refused; the code and the detail become the answer
     */
    R handle(Q request, Session session) throws CrailException;
  }

  /** Serves a run of requests with the same opcode, straight on the buffers. */
  @FunctionalInterface
  public interface BatchHandler {
    /**
     * Serves the requests {@code from} (inclusive) to {@code to} (exclusive), each with one answer.
     * It may also give the last ones back, see {@link RequestBatch#giveBackFrom}.
     *
     * @throws CrailException when the peer breaks the protocol; its connection is closed
     */
    void handle(RequestBatch batch, int from, int to, ResponseWriter responses)
        throws CrailException;
  }

  private final BatchHandler[] handlers;
  private final Operation<?, ?>[] operations;
  private final OperationCounters[] counters;
  private final SlowOperations slow;
  private final Clock clock;
  private final boolean[] opens;
  private final CommitGate gate;
  private final SessionListener sessionListener;
  private final RunListener runListener;

  /** Learns of connections that are gone. */
  @FunctionalInterface
  public interface SessionListener {
    /** The connection of {@code session} is gone. */
    void closed(Session session);
  }

  /** Receives the requests that were served, refused ones among them. */
  @FunctionalInterface
  public interface RunListener {
    /** {@code requests} of one operation were served together. In the thread of the connection. */
    void served(Session session, int operation, int requests);
  }

  private OperationServer(Builder builder) {
    this.handlers = builder.handlers;
    this.operations = builder.operations;
    this.opens = builder.opens;
    this.gate = builder.gate;
    this.sessionListener = builder.sessionListener;
    this.runListener = builder.runListener;
    this.slow = builder.slow;
    this.clock = builder.clock;
    this.counters = builder.counters;
  }

  /** Starts a server for a table; the operations of {@code handshake} open a connection. */
  public static Builder builder(Map<Integer, Operation<?, ?>> table, Operation<?, ?>... handshake) {
    return new Builder(table, handshake);
  }

  /** What was counted of an operation so far. */
  public OperationCounters counters(Operation<?, ?> operation) {
    return counters[operation.number()];
  }

  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    int from = 0;
    long begun = clock.nanoTime();
    while (from < batch.count()) {
      int opcode = batch.opcode(from);
      BatchHandler handler = opcode < handlers.length ? handlers[opcode] : null;
      if (handler == null) {
        throw ErrorCode.PROTOCOL.exception("unknown opcode " + opcode);
      }
      if (batch.session().caller() == null) {
        if (!opens[opcode]) {
          throw ErrorCode.PROTOCOL.exception(
              operations[opcode].name() + " before the end of the handshake");
        }
        batch.session().needCaller();
      } else if (batch.session().caller().end() != null) {
        throw ErrorCode.UNAUTHENTICATED.exception(batch.session().caller().end());
      } else if (!batch.session().caller().may(operations[opcode].right())) {
        handler = this::refuse;
      }
      int to = from + 1;
      // The handshake decides whether the following requests may be served, so it is served alone.
      while (to < batch.count() && batch.opcode(to) == opcode && !opens[opcode]) {
        to++;
      }
      responses.countErrors(counters[opcode].errors());
      handler.handle(batch, from, to, responses);
      responses.countErrors(null);
      int served = Math.min(to, batch.count());
      if (served == from) {
        return;
      }
      long ended = clock.nanoTime();
      counters[opcode].served(served - from, ended - begun);
      runListener.served(batch.session(), opcode, served - from);
      slow.served(operations[opcode], batch, from, served, ended - begun);
      begun = ended;
      from = served;
    }
  }

  private void refuse(RequestBatch batch, int from, int to, ResponseWriter responses) {
    Operation<?, ?> operation = operations[batch.opcode(from)];
    Principal principal = batch.session().caller().principal();
    String why =
        operation.name()
            + " needs the right to "
            + operation.right().name().toLowerCase(Locale.ROOT)
            + ", which "
            + principal.role().name().toLowerCase(Locale.ROOT)
            + " '"
            + principal.name()
            + "' does not have";
    for (int i = from; i < to; i++) {
      if (responses.isFull()) {
        batch.giveBackFrom(i);
        return;
      }
      responses.fail(batch.correlationId(i), ErrorCode.ACCESS_DENIED, why);
    }
  }

  @Override
  public CommitGate gate() {
    return gate;
  }

  @Override
  public void closed(Session session) {
    sessionListener.closed(session);
  }

  /** Collects handlers; not thread-safe. */
  public static final class Builder {
    private final Map<Integer, Operation<?, ?>> table;
    private final BatchHandler[] handlers;
    private final Operation<?, ?>[] operations;
    private final OperationCounters[] counters;
    private final boolean[] opens;
    private SessionListener sessionListener = session -> {};
    private RunListener runListener = (session, operation, requests) -> {};
    private CommitGate gate = CommitGate.OPEN;
    private final Admission admission = new Admission();
    private SlowOperations slow = SlowOperations.NEVER;
    private Clock clock = Clock.SYSTEM;

    private Builder(Map<Integer, Operation<?, ?>> table, Operation<?, ?>[] handshake) {
      int most = table.keySet().stream().mapToInt(Integer::intValue).max().orElse(0);
      this.table = table;
      this.handlers = new BatchHandler[most + 1];
      this.operations = new Operation<?, ?>[most + 1];
      this.counters = new OperationCounters[most + 1];
      Arrays.setAll(counters, number -> new OperationCounters());
      this.opens = new boolean[most + 1];
      for (Operation<?, ?> each : handshake) {
        opens[each.number()] = true;
      }
    }

    /** What the server will count of an operation, for handlers that show it. */
    public OperationCounters counters(Operation<?, ?> operation) {
      return counters[operation.number()];
    }

    /** Adds the handler of an operation, one request at a time. */
    public <Q, R> Builder handle(Operation<Q, R> operation, Handler<Q, R> handler) {
      return handle(operation, handler, null);
    }

    /**
     * Adds the handler of an operation that may answer later, when an event has happened. No thread
     * waits for the event. Other requests of the connection may be answered before it; the same
     * request, over another connection, waits for it.
     */
    public <Q, R> Builder handleOrHold(Operation<Q, R> operation, Handler<Q, Outcome<R>> handler) {
      return handleOrHold(operation, handler, never());
    }

    /** As the other method, where some requests take as long as {@link #handleLong} says. */
    public <Q, R> Builder handleOrHold(
        Operation<Q, R> operation, Handler<Q, Outcome<R>> handler, Predicate<Q> takesLong) {
      return handleEach(
          new SingleHandler<>(
              admission,
              operation,
              reader(operation),
              holder(operation, handler),
              takesLong,
              null));
    }

    /** As {@link #handleOrHold(Operation, Handler)}, with work that may help. */
    public <Q, R> Builder handleOrHold(
        Operation<Q, R> operation, Handler<Q, Outcome<R>> handler, SingleHandler.Work<Q> work) {
      return handleEach(
          new SingleHandler<>(
              admission, operation, reader(operation), holder(operation, handler), never(), work));
    }

    /**
     * Adds the handler of an operation. Its requests are not refused while {@code work} may still
     * help.
     */
    public <Q, R> Builder handle(
        Operation<Q, R> operation, Handler<Q, R> handler, SingleHandler.Work<Q> work) {
      return handleEach(
          new SingleHandler<>(
              admission,
              operation,
              reader(operation),
              responder(operation, handler),
              never(),
              work));
    }

    /**
     * As {@link #handle(Operation, Handler, Work)}, without a record for request and answer.
     *
     * @param <V> the object that a request is read into
     */
    public <V> Builder handle(
        Operation<?, ?> operation,
        SingleHandler.Reader<V> reader,
        SingleHandler.Responder<V> responder,
        SingleHandler.Work<V> work) {
      return handleEach(
          new SingleHandler<>(admission, operation, reader, responder, never(), work));
    }

    /**
     * Adds the handler of an operation that may take long: some ten microseconds or more, but never
     * as much as a millisecond. Before each request, other connections get their turn.
     */
    public <Q, R> Builder handleLong(Operation<Q, R> operation, Handler<Q, R> handler) {
      return handleLong(operation, handler, request -> true);
    }

    /** As {@link #handleLong(Operation, Handler)}, where only some requests take long. */
    public <Q, R> Builder handleLong(
        Operation<Q, R> operation, Handler<Q, R> handler, Predicate<Q> takesLong) {
      return handleEach(
          new SingleHandler<>(
              admission,
              operation,
              reader(operation),
              responder(operation, handler),
              takesLong,
              null));
    }

    private static <V> Predicate<V> never() {
      return request -> false;
    }

    private static <Q> SingleHandler.Reader<Q> reader(Operation<Q, ?> operation) {
      return (batch, index) -> operation.request().read(batch.buffer(), batch.bodyOffset(index));
    }

    private static <Q, R> SingleHandler.Responder<Q> responder(
        Operation<Q, R> operation, Handler<Q, R> handler) {
      return (request, batch, index, responses) ->
          operation.answer(
              handler.handle(request, batch.session()), batch.correlationId(index), responses);
    }

    private static <Q, R> SingleHandler.Responder<Q> holder(
        Operation<Q, R> operation, Handler<Q, Outcome<R>> handler) {
      return (request, batch, index, responses) -> {
        Outcome<R> outcome = handler.handle(request, batch.session());
        long correlationId = batch.correlationId(index);
        if (outcome instanceof Outcome.Held<R> held) {
          Replies replies = operation.changes() ? batch.session().replies() : null;
          Reply reply = replies == null ? null : replies.at(Frame.slot(correlationId));
          batch
              .session()
              .hold(correlationId, held.of(operation, batch.session()), reply, responses);
        } else {
          operation.answer(((Outcome.Now<R>) outcome).answer(), correlationId, responses);
        }
      };
    }

    private Builder handleEach(SingleHandler<?> single) {
      return handleBatch(
          single.operation(),
          (batch, from, to, responses) -> {
            for (int i = from; i < to; i++) {
              if (responses.isFull() || !single.serve(batch, i, responses)) {
                batch.giveBackFrom(i);
                return;
              }
            }
          });
    }

    /** Adds the handler of an operation that works on many requests at once. */
    public Builder handleBatch(Operation<?, ?> operation, BatchHandler handler) {
      int number = operation.number();
      if (table.get(number) != operation) {
        throw new AssertionError("not in the table: " + operation);
      }
      if (handlers[number] != null) {
        throw new AssertionError("two handlers for " + operation);
      }
      handlers[number] = handler;
      operations[number] = operation;
      return this;
    }

    /** Sets the listener for connections that are gone. */
    public Builder onClosed(SessionListener listener) {
      sessionListener = listener;
      return this;
    }

    /** Sets the listener for requests that were served; it must neither wait nor allocate. */
    public Builder onServed(RunListener listener) {
      runListener = listener;
      return this;
    }

    /**
     * Sets what decides about answers and changes.
     *
     * @param newGate decides when answers may leave
     * @param refusal says why requests that would change something are refused, with {@link
     *     ErrorCode#UNAVAILABLE}; null if they are not. One that was served before has its answer
     *     all the same. Must neither wait nor allocate when it is null
     */
    public Builder commit(CommitGate newGate, Supplier<String> refusal) {
      gate = newGate;
      admission.set(refusal);
      return this;
    }

    /** Logs runs of requests that take at least {@code leastNanos} by {@code measuredBy}. */
    public Builder reportSlow(long leastNanos, RateLimitedLog log, Clock measuredBy) {
      slow = new SlowOperations(leastNanos, log);
      clock = measuredBy;
      return this;
    }

    /** Builds the server; fails when an operation has no handler. */
    public OperationServer build() {
      table.forEach(
          (number, operation) -> {
            if (handlers[number] == null) {
              throw new AssertionError("no handler for " + operation);
            }
          });
      return new OperationServer(this);
    }
  }
}
