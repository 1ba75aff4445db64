/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a peer with a new directory comes to take part. If all other peers have nothing either, the
 * first one begins with them, and the others see their numbers in what it answers. If this one has
 * the records of a namenode without standbys, and all others have nothing, it begins without them.
 * If any of them has something, this peer has lost its directory, or is new, and the one that
 * serves takes it in. Otherwise it waits: as long as there may be something, nothing is begun. Only
 * its own thread may wait.
 */
final class Entrance implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Entrance.class);
  private static final long PAUSE_MILLIS = 200;
  private static final long END_SECONDS = 10;
  private static final long REPORT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int index;
  private final int peer;
  private final Path directory;
  private final List<InetSocketAddress> addresses;
  private final long group;
  private final Transport transport;
  private final Clock clock;
  private final PeerProof proof;
  private final Membership.Records records;
  private final ExecutorService thread;
  private volatile Membership own;
  private volatile boolean isEnded;
  private String said = "";
  private long saidNanos;

  /**
   * Reads what the directory says, and makes it if it is not there, or not whole.
   *
   * @param index which namenode it is
   * @param peer which of its peers this is
   * @param records what there is beside it
   * @throws IOException that names the file if it cannot be used
   */
  Entrance(
      Configuration conf,
      int index,
      int peer,
      Path directory,
      Membership.Records records,
      Transport transport,
      Clock clock)
      throws IOException {
    this.index = index;
    this.peer = peer;
    this.directory = directory;
    this.addresses = conf.get(ClusterKeys.NAMENODE_ADDRESS).peers(index);
    this.transport = transport;
    this.clock = clock;
    this.proof = new PeerProof(Secrets.of(conf, clock), clock);
    this.records = records;
    this.thread =
        Executors.newSingleThreadExecutor(Threads.factory("crail-namenode-" + index + "-joins"));
    UUID name = RaftPeers.groupOf(conf, index);
    this.group = name.getMostSignificantBits() ^ name.getLeastSignificantBits();
    Membership read = Membership.read(directory, peer);
    if (read == null) {
      read = Membership.of(peer, new SecureRandom().nextLong());
      read.write(directory);
    }
    own = read;
  }

  /** What this peer is among the others. Any thread. */
  Membership membership() {
    return own;
  }

  /** Answers another peer, while this one does not serve. Any thread. */
  AskPeer.Response answer(AskPeer.Request request) throws CrailException {
    require(request);
    return own.answer(records);
  }

  /**
   * Refuses those of another namenode, and all who are none. Any thread.
   *
   * @throws CrailException with {@link ErrorCode#INVALID_ARGUMENT} or {@link
   *     ErrorCode#UNAUTHENTICATED}
   */
  void require(AskPeer.Request request) throws CrailException {
    proof.require(request);
    if (request.group() != group) {
      throw ErrorCode.INVALID_ARGUMENT.exception("this is a peer of another namenode");
    }
  }

  /**
   * Waits until this peer may take part. What it is then is durable.
   *
   * @return false if the wait was ended
   */
  boolean await() throws IOException, InterruptedException {
    try (PeerCalls calls = calls()) {
      while (!isEnded) {
        Map<Integer, AskPeer.Response> answers = ask(calls, false);
        Membership next = next(calls, answers);
        if (next != null) {
          next.write(directory);
          own = next;
          return true;
        }
        report(why(answers) + silent(calls));
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
    return false;
  }

  /** Does something in its thread. Any thread. */
  void execute(Runnable task) {
    thread.execute(task);
  }

  /** Ends all waits, and waits for its thread. Any other thread. */
  @Override
  public void close() {
    isEnded = true;
    thread.shutdown();
    try {
      if (!thread.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("peer {} of namenode {} is still joining", peer, index);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Notes that this peer has started to take part. */
  void started() throws IOException {
    if (!own.isStarted()) {
      Membership next = own.started();
      next.write(directory);
      own = next;
    }
  }

  /** Asks to be taken in until this peer counts. */
  void awaitMember(BooleanSupplier isMember) throws InterruptedException {
    try (PeerCalls calls = calls()) {
      while (!isEnded) {
        if (ask(calls, true).values().stream().noneMatch(Entrance::serves)) {
          report("no peer serves that could take it in" + silent(calls));
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        if (isMember.getAsBoolean()) {
          LOG.info("peer {} of namenode {} has joined anew, and counts again", peer, index);
          return;
        }
      }
    }
  }

  /** An error that also says how a peer gets rid of damaged files. Any thread. */
  IOException advised(IOException cause, Path copy) {
    return new IOException(
        cause.getMessage()
            + "; if files are damaged, move "
            + copy
            + " and "
            + directory
            + " away and start this peer again: it joins anew",
        cause);
  }

  private PeerCalls calls() {
    return new PeerCalls(transport, "crail-namenode-" + index + "-peers", addresses, peer);
  }

  private Map<Integer, AskPeer.Response> ask(PeerCalls calls, boolean isReady)
      throws InterruptedException {
    return calls.ask(proof.signed(peer, isReady, own.number(), group));
  }

  private static boolean serves(AskPeer.Response answer) {
    return answer.state() >= AskPeer.WAIT && answer.state() <= AskPeer.MEMBER;
  }

  /** What follows from the answers; null to ask again. */
  private Membership next(PeerCalls calls, Map<Integer, AskPeer.Response> answers) {
    for (AskPeer.Response each : answers.values()) {
      if (each.begun().size() > peer && each.begun().get(peer) == own.number()) {
        LOG.info("peer {} of namenode {} begins with the others", peer, index);
        return own.begins(each.begun());
      }
      // The others may have begun with this peer, which has said nothing since.
      boolean isToJoin = each.state() == AskPeer.APART || each.state() == AskPeer.MEMBER;
      if (isToJoin && records != Membership.Records.LONE) {
        LOG.info(
            "peer {} of namenode {} is new, or has lost its directories, and joins: it does not"
                + " count until it has all that the others have",
            peer,
            index);
        return own.joining();
      }
    }
    boolean haveOthersNothing =
        answers.size() == calls.count()
            && answers.values().stream().allMatch(each -> each.state() == AskPeer.NOTHING);
    if (haveOthersNothing && records == Membership.Records.LONE) {
      LOG.info(
          "peer {} of namenode {} begins with the records of a namenode without standbys; the"
              + " others join",
          peer,
          index);
      return own.begins(List.of(own.number()));
    }
    // One of them only, so that all begin alike.
    boolean isFirst = haveOthersNothing && records == Membership.Records.NONE && peer == 0;
    return isFirst ? first(answers) : null;
  }

  private Membership first(Map<Integer, AskPeer.Response> answers) {
    List<Long> numbers = new ArrayList<>(List.of(own.number()));
    answers.values().forEach(each -> numbers.add(each.number()));
    LOG.info("peer 0 of namenode {} begins: all {} peers are empty", index, numbers.size());
    return own.begins(numbers);
  }

  private String why(Map<Integer, AskPeer.Response> answers) {
    List<Integer> having =
        answers.values().stream()
            .filter(each -> each.state() > AskPeer.NOTHING)
            .map(AskPeer.Response::peer)
            .toList();
    boolean hasOther = !having.isEmpty();
    if (records == Membership.Records.LONE) {
      return hasOther
          ? "it has the records of a namenode without standbys, but peers "
              + having
              + " have some too; end all peers, and move the namenode's directories away at each but"
              + " the one whose records are to be kept"
          : "to begin with the records of a namenode without standbys, it needs all peers, which"
              + " must have none";
    } else if (answers.values().stream().anyMatch(Entrance::serves)) {
      return "it is new, or has lost its directories, and is about to join";
    } else if (answers.values().stream().allMatch(each -> isLoneOrNothing(each)) && hasOther) {
      return "peers " + having + " have the records of a namenode without standbys";
    } else if (hasOther || records == Membership.Records.COPY) {
      return (hasOther ? "another peer has records" : "it has a copy of records")
          + ", so it has lost its directories, and has to join anew, but no peer serves: that takes"
          + " a majority of the peers, with their directories";
    }
    return "all peers are needed for the first start";
  }

  private boolean isLoneOrNothing(AskPeer.Response answer) {
    return records == Membership.Records.NONE
        && (answer.state() == AskPeer.NOTHING || answer.state() == AskPeer.LONE);
  }

  private static String silent(PeerCalls calls) {
    return calls.silent().isEmpty() ? "" : "; missing: " + calls.silent();
  }

  /** Says why this peer waits, at once and then from time to time. */
  private void report(String why) {
    long now = clock.nanoTime();
    if (!why.equals(said) || now - saidNanos > REPORT_NANOS) {
      said = why;
      saidNanos = now;
      LOG.info("peer {} of namenode {} waits: {}", peer, index, why);
    }
  }
}
