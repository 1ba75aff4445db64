/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.common.RateLimitedLog;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.AskPeer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.util.JavaUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes peers in that have lost their directories, as the one that leads. They ask again and again,
 * and each question does the next step that is possible. First a majority agrees that the peer does
 * not count any more. Only then it starts its server: what other peers still send to it, under its
 * old name, is no answer that any majority needs. At last it gets what the others have, and counts
 * again under its new name. Thread-safe.
 */
final class Replacements {
  private static final Logger LOG = LoggerFactory.getLogger(Replacements.class);
  private static final long ASKING_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** So many times the shortest election, a peer is silent that has ended. */
  private static final int SILENT = 4;

  private final RaftPeers raft;
  private final int index;
  private final int peer;
  private final Clock clock;
  private final Executor thread;

  /** A peer with another directory that was heard of since then still runs. */
  private final long silentMillis;

  /** When each peer asked last without counting. */
  private final AtomicLongArray askedNanos;

  private final RateLimitedLog doubles;

  /**
   * Creates it.
   *
   * @param index which namenode it is
   * @param peer which of its peers this is
   * @param thread runs tasks that may take a while
   */
  Replacements(
      RaftPeers raft, Configuration conf, int index, int peer, Clock clock, Executor thread) {
    this.raft = raft;
    this.index = index;
    this.peer = peer;
    this.silentMillis = SILENT * conf.get(StandbyKeys.ELECTION).toMillis();
    this.clock = clock;
    this.thread = thread;
    int count = conf.get(ClusterKeys.NAMENODE_ADDRESS).peers(index).size();
    this.askedNanos = new AtomicLongArray(count);
    this.doubles = new RateLimitedLog(LOG, clock);
    for (int i = 0; i < count; i++) {
      askedNanos.set(i, clock.nanoTime() - ASKING_NANOS);
    }
  }

  /** Whether a peer has lost its directory, and does not count yet. */
  boolean joins(int of) {
    return !raft.counts(of) || clock.nanoTime() - askedNanos.get(of) < ASKING_NANOS;
  }

  /** Answers a peer that may have lost its directory. Its answer must leave only as a leader's. */
  AskPeer.Response answer(AskPeer.Request request, Membership own) throws CrailException {
    int from = request.peer();
    if (from < 0 || from >= askedNanos.length() || from == peer) {
      throw ErrorCode.INVALID_ARGUMENT.exception("peer " + from + " asks peer " + peer);
    }
    int standing = raft.standing(from, request.number());
    if (standing == AskPeer.MEMBER) {
      askedNanos.set(from, clock.nanoTime() - ASKING_NANOS);
    } else {
      askedNanos.set(from, clock.nanoTime());
      thread.execute(() -> goOn(from, request.number(), request.ready()));
    }
    return new AskPeer.Response(peer, standing, own.number(), own.begun());
  }

  private void goOn(int from, long number, boolean isReady) {
    int standing = raft.standing(from, number);
    if (standing == AskPeer.APART && isReady && !raft.sendsTo(from)) {
      LOG.info(
          "peer {} of namenode {}: peer {} is taken in, and gets all there is", peer, index, from);
      report(raft.takeIn(from, number), from, "counts again");
    } else if (standing == AskPeer.WAIT && raft.counts(from)) {
      if (raft.silentMillis(from) < silentMillis) {
        doubles.warn(
            "peer "
                + peer
                + " of namenode "
                + index
                + ": peer "
                + from
                + " says that it has lost its directories, but was there a moment ago; it must be"
                + " silent for "
                + silentMillis
                + " ms. If this is said again and again, two processes are peer "
                + from);
        return;
      }
      LOG.info(
          "peer {} of namenode {}: peer {} has lost its directories, and is taken out",
          peer,
          index,
          from);
      report(raft.takeOut(from), from, "does not count any more, until it has joined anew");
    }
  }

  private void report(CompletableFuture<Void> change, int from, String done) {
    change.whenComplete(
        (nothing, problem) -> {
          Throwable cause = JavaUtils.unwrapCompletionException(problem);
          if (cause == null) {
            LOG.info("peer {} of namenode {}: peer {} {}", peer, index, from, done);
          } else if (!(cause instanceof ReconfigurationInProgressException)) {
            LOG.warn(
                "peer {} of namenode {}: not yet, for peer {}: {}",
                peer,
                index,
                from,
                cause.toString());
          }
        });
  }
}
