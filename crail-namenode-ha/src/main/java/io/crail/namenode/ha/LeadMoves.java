/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.Leadership;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.cluster.Lead;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says how the peers of a namenode stand, and has another one lead on request. Thread-safe.
 *
 * @param index which namenode it is
 * @param peer which of its peers this is
 * @param watch knows how the peers stand
 * @param thread runs one task at a time, which may take seconds
 * @param leading gives the log of this peer; null if it does not lead
 * @param replacements takes peers in that have lost their directories
 * @param entrance how this one has come in
 */
record LeadMoves(
    RaftPeers raft,
    int index,
    int peer,
    PeerWatch watch,
    Executor thread,
    Supplier<LeaderLog> leading,
    Replacements replacements,
    Entrance entrance)
    implements Leadership {
  private static final Logger LOG = LoggerFactory.getLogger(LeadMoves.class);
  private static final long PAUSE_MILLIS = 20;
  private static final int PAUSES = 250;

  /** Entries that a peer which is to lead may lack. */
  private static final long MOST_BEHIND = 1_000;

  @Override
  public Lead.Response lead(Lead.Request request) throws CrailException {
    List<Lead.Peer> peers = watch.peers();
    if (request.peer() < Lead.NONE || request.peer() >= peers.size()) {
      throw ErrorCode.INVALID_ARGUMENT.exception("peer " + request.peer() + " of " + peers.size());
    }
    if (request.peer() != Lead.NONE && request.peer() != peer) {
      if (!raft.counts(request.peer())) {
        throw ErrorCode.UNAVAILABLE.exception(
            "peer " + request.peer() + " is still joining, and does not count yet");
      }
      Lead.Peer next = peers.get(request.peer());
      if (!next.isReached() || next.behind() == Lead.UNKNOWN || next.behind() > MOST_BEHIND) {
        throw ErrorCode.UNAVAILABLE.exception(
            "peer " + request.peer() + " is not reachable, or too far behind");
      }
      thread.execute(() -> move(request.peer()));
    }
    return new Lead.Response(peer, raft.term(), peers);
  }

  @Override
  public AskPeer.Response ask(AskPeer.Request request) throws CrailException {
    entrance.require(request);
    return replacements.answer(request, entrance.membership());
  }

  /** Has any other peer lead, since nothing is agreed on here any more. */
  void giveUp(LeaderLog log) {
    thread.execute(
        () -> {
          if (log.hasFailed() || leading.get() != log || !log.isStalled()) {
            return;
          }
          // The other peers wait for no lease if this one asks them.
          log.pause();
          try {
            boolean isDone = raft.move(Lead.NONE);
            // Only now: the disk that stands still may be that of the program's log.
            LOG.warn(
                "peer {} of namenode {}: nothing had been agreed on for {} s, for example since its"
                    + " disk stands still; {}",
                peer,
                index,
                LeaderLog.STALL_SECONDS,
                isDone ? "it leads no more" : "it could not give up the lead");
          } catch (IOException | RuntimeException e) {
            LOG.warn("peer {} of namenode {} could not give up the lead", peer, index, e);
          } finally {
            log.end("nothing was agreed on");
          }
        });
  }

  /** Has another peer lead, after all that was sent is agreed on. */
  private void move(int to) {
    LeaderLog log = leading.get();
    if (log == null) {
      return;
    }
    boolean isAsked = false;
    try {
      // The answer to who asks leaves before.
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      boolean isDone = log.pause();
      for (int i = 0; i < PAUSES && !isDone && !log.hasFailed(); i++) {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        isDone = log.pause();
      }
      if (!isDone || log.hasFailed() || !raft.leadsIn(log.term())) {
        LOG.warn("peer {} of namenode {}: peer {} does not take over", peer, index, to);
        return;
      }
      isAsked = true;
      if (raft.move(to)) {
        LOG.info("peer {} of namenode {}: peer {} takes over", peer, index, to);
      } else {
        LOG.warn("peer {} of namenode {}: peer {} did not take over in time", peer, index, to);
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("peer {} of namenode {}: peer {} does not take over", peer, index, to, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (isAsked) {
        // Also if it has not taken over: the request may still arrive, and then no lease counts.
        log.end("another peer was asked to lead");
      } else {
        log.goOn();
      }
    }
  }
}
