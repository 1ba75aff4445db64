/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.rpc.CommitQueue;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.Frame;
import io.crail.rpc.HeldAnswers;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * A server's end of a connection: all whole frames of a poll go to the service, and their responses
 * leave with one post. A peer that does not take its responses is not served until it does. In the
 * meantime its receive requests are not posted again, so it runs out of credits. Used only by its
 * polling thread.
 */
final class ServerMessenger extends Messenger {
  /** The thread that serves a connection, and its server. */
  interface Owner {
    Service service();

    Clock clock();

    /** The turns of the thread's connections. */
    ConnectionScheduler turns();

    /** The answers that the thread's connections hold back. */
    HeldAnswers answers();

    /** The thread's connections whose answers wait for a commit. */
    CommitQueue commits();

    /** Logs that a connection was closed, and why. */
    void dropped(String peer, String why);

    /** Logs a bug of the service. */
    void failed(String peer, Throwable cause);

    /** Forgets a connection that has ended. */
    void remove(ServerMessenger messenger);
  }

  private final Owner owner;
  private final Session session;
  private final RequestBatch batch;
  private final HeldAnswers.OfConnection held;
  private final Responses responses;
  private final ConnectionScheduler.Member turn =
      new ConnectionScheduler.Member() {
        @Override
        protected void serve() {
          resume();
        }
      };
  private final long openedNanos;

  /** Requests of the batch were not served and wait for a turn. */
  private boolean waits;

  /** The first of them waits for an answer that another connection holds. */
  private boolean waitsForAnswer;

  /** This connection is in the queue of those that wait for their turn. */
  private boolean queued;

  private boolean refused;
  private long served;

  // The values that the last sweeps have seen.
  private long sweptServed;
  private long partialSinceNanos;
  private long sweptMessages;
  private long waitingSinceNanos;
  private long sweptEnded;
  private long unacknowledgedSinceNanos;
  private long sweptActivity;
  private long idleSinceNanos;

  /** Its index in the thread's list. */
  int index;

  /**
   * Begins to talk to a peer that is about to be accepted.
   *
   * @param greeting null when the peer is not Crail's
   */
  ServerMessenger(
      Owner owner,
      MessagePort port,
      SendChunk.Pool pool,
      DarpcSettings settings,
      Greeting greeting,
      String peer)
      throws IOException {
    super(port, pool, settings);
    this.owner = owner;
    this.held = owner.answers().of(this::released);
    this.session = new Session(peer, held);
    this.responses = new Responses();
    this.batch = new RequestBatch(session);
    batch.reset(memory());
    this.openedNanos = owner.clock().nanoTime();
    this.partialSinceNanos = openedNanos;
    this.waitingSinceNanos = openedNanos;
    this.unacknowledgedSinceNanos = openedNanos;
    this.idleSinceNanos = openedNanos;
    open(greeting, Frame.KIND_REQUEST);
  }

  /** This connection as a member of the queue of waiting connections. */
  ConnectionScheduler.Member turn() {
    return turn;
  }

  @Override
  CommitQueue commits() {
    return owner.commits();
  }

  @Override
  boolean holdsBack() {
    return waits || held.isFull() || isOutputFull();
  }

  private boolean isOutputFull() {
    return outgoing().pendingBytes() > settings().outputLimit();
  }

  @Override
  int keptFrames() {
    return waits ? batch.count() : 0;
  }

  @Override
  public boolean frame(ByteBuffer buffer, int offset, int length) throws CrailException {
    batch.add(offset, length);
    if (batch.count() == RequestBatch.TOGETHER) {
      serve();
    }
    return !isClosed() && !holdsBack();
  }

  @Override
  public boolean together(ByteBuffer buffer, int length) throws CrailException {
    serve();
    if (waits) {
      return false;
    }
    batch.reset(buffer);
    batch.add(0, length);
    serve();
    boolean isTaken = batch.count() == 0 && !isClosed();
    batch.reset(memory());
    return isTaken;
  }

  @Override
  void taken() throws CrailException {
    serve();
  }

  /** Serves the batch. The requests that are left wait for their turn. */
  private void serve() throws CrailException {
    int offered = batch.count();
    if (offered == 0 || waits || isClosed()) {
      return;
    }
    responses.settle();
    try {
      owner.service().serve(batch, responses);
    } catch (RuntimeException | Error e) {
      owner.failed(session.peer(), e);
      refuse("its request failed");
      return;
    }
    served += batch.count();
    batch.dropServed(offered);
    if (!isClosed()) {
      responses.written(outgoing());
      if (batch.count() > 0) {
        waits = true;
        // A connection that holds as many answers as it may gets its turn when some of them leave.
        if (session.takeWaitsForAnswer()) {
          waitsForAnswer = true;
        } else if (!held.isFull() || held.isAnyLeaving()) {
          queue();
        }
      }
    }
  }

  private void queue() {
    if (!queued) {
      queued = true;
      owner.turns().await(turn);
    }
  }

  /** Queues the connection if held answers may leave. */
  private void released() {
    if (held.isAnyLeaving() && !isOutputFull()) {
      queue();
    }
  }

  /** Writes the held answers that may leave, as many as the turn allows. */
  private void writeReleased() {
    responses.settle();
    for (int i = 1; held.isAnyLeaving() && !isOutputFull() && !isClosed(); i++) {
      held.write(responses);
      if (i % RequestBatch.TOGETHER == 0 && owner.turns().isOver()) {
        queue();
        break;
      }
    }
    if (!isClosed()) {
      responses.written(outgoing());
    }
  }

  /** Called when it is this connection's turn. */
  private void resume() {
    queued = false;
    waits = false;
    try {
      writeReleased();
      serve();
    } catch (CrailException e) {
      refuse(e.getMessage());
    } catch (RuntimeException | Error e) {
      owner.failed(session.peer(), e);
      refuse("its request failed");
    }
    if (!isClosed()) {
      advance();
    }
  }

  @Override
  void progressed() {
    released();
  }

  @Override
  void refuse(String why) {
    if (!refused) {
      refused = true;
      owner.dropped(session.peer(), why);
      end(why);
    }
  }

  @Override
  void ended(String cause) {
    if (failure() != null && !refused) {
      owner.dropped(session.peer(), failure());
    }
    held.close();
    owner.remove(this);
    try {
      owner.service().closed(session);
    } catch (RuntimeException | Error e) {
      owner.failed(session.peer(), e);
    }
  }

  /** Looks at the deadlines. */
  void sweep(long nowNanos) {
    if (waitsForAnswer) {
      waitsForAnswer = false;
      queue();
    }
    if ((served == 0 || session.isInHandshake())
        && nowNanos - openedNanos >= settings().handshakeTimeoutNanos()) {
      refuse("no handshake in time");
      return;
    }
    // As long as nothing is served, the incomplete frame is the same one.
    if (!isPartial() || isHolding() || waits || served != sweptServed) {
      sweptServed = served;
      partialSinceNanos = nowNanos;
    } else if (nowNanos - partialSinceNanos >= settings().stallTimeoutNanos()) {
      refuse("does not end a request that it has begun");
      return;
    }
    if (outgoing().pendingBytes() == 0
        || outgoing().awaitsCommit()
        || outgoing().messages() != sweptMessages) {
      sweptMessages = outgoing().messages();
      waitingSinceNanos = nowNanos;
    } else if (nowNanos - waitingSinceNanos >= settings().stallTimeoutNanos()) {
      refuse("takes no answers");
      return;
    }
    // The peer chooses how often this device repeats packets, which may never end.
    if (!outgoing().isUnacknowledged() || outgoing().ended() != sweptEnded) {
      sweptEnded = outgoing().ended();
      unacknowledgedSinceNanos = nowNanos;
    } else if (nowNanos - unacknowledgedSinceNanos >= settings().stallTimeoutNanos()) {
      refuse("acknowledges nothing");
      return;
    }
    long activity = arrivals() + outgoing().messages();
    if (activity != sweptActivity) {
      sweptActivity = activity;
      idleSinceNanos = nowNanos;
    } else if (nowNanos - idleSinceNanos >= settings().keepAliveNanos()) {
      idleSinceNanos = nowNanos;
      outgoing().probe();
    }
  }

  /** Writes responses into chunks. */
  private final class Responses extends ResponseWriter {
    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      if (needed > SendChunk.CAPACITY) {
        throw new IllegalArgumentException("a response of " + needed + " bytes");
      }
      try {
        if (outgoing().filling() != null) {
          outgoing().written(written, takeRests(commits()));
        }
        return outgoing().nextChunk().view();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Forgets a chunk that was given back in the meantime, and checks whether more may be held. */
    void settle() {
      setFull(held.isFull());
      if (outgoing().filling() == null) {
        detach();
      }
    }

    @Override
    public boolean hasTurn() {
      return !isClosed() && owner.turns().allowLong();
    }

    void written(Outgoing to) {
      if (to.filling() != null) {
        to.written(written(), takeRests(commits()));
      }
    }
  }
}
