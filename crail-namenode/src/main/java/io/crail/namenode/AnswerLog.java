/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.change.Change;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.RecordTarget;
import io.crail.namenode.log.RequestsUnderWay;
import io.crail.namenode.log.Unfinished;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import io.crail.rpc.login.Principal;
import io.crail.rpc.reply.Replies;
import io.crail.rpc.reply.ReplyCache;
import io.crail.rpc.reply.ReplyLog;
import io.crail.rpc.reply.ReplyPeer;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Notes the answers to requests that have changed something, so that a namenode which starts again
 * answers a repeated request as it did before. A request that has changed nothing may be served
 * again. Where the log may end between its first change and the answer, and while the answer is
 * held, a request is noted as one whose answer is lost. Thread-safe.
 */
final class AnswerLog implements ReplyLog {
  /** The first kind of its records; there are three. */
  static final int FIRST_KIND = NameNodeLog.LINEAGE + 1;

  private static final int MOST_NAME = 255;
  private static final int PEER = FIRST_KIND;
  private static final int ANSWER = FIRST_KIND + 1;
  private static final int GONE = FIRST_KIND + 2;

  /**
   * A peer, before its first answer.
   *
   * @param number names it in other records
   * @param role what it takes part as
   */
  record Peer(int number, int role, long client, long peer, long patienceNanos, Utf8 name) {
    private static final Codec<Peer> CODEC =
        Codec.of(
            Peer.class,
            Layout.of("AnswerLog.Peer")
                .i32("number", "names it in other records")
                .u8("role", "number of its role")
                .i64("client", "the random number of the client")
                .i64("peer", "which of the client's peers it is")
                .i64("patienceNanos", "how long it may send a request again")
                .u16("nameLength", "bytes of the name")
                .bytes("name", "nameLength", 0, MOST_NAME, "its name"));
  }

  /**
   * An answer.
   *
   * @param peer number of the peer
   * @param request number of the request in its slot
   * @param lost whether the request was served, and the answer is not known
   */
  record Answer(int peer, int slot, long request, int code, boolean lost, SmallValue body) {
    private static final Codec<Answer> CODEC =
        Codec.of(
            Answer.class,
            Layout.of("AnswerLog.Answer")
                .i32("peer", "number of the peer")
                .u16("slot", "the slot of the request")
                .i64("request", "number of the request in its slot")
                .u16("code", "number of the error code; 0 for none")
                .u8("lost", "1 if the request was served, and the answer is not known")
                .i32("bodyLength", "bytes of the answer")
                .bytes("body", "bodyLength", 0, SmallValue.MAX_LENGTH, "the answer"));

    Answer of(int newPeer) {
      return new Answer(newPeer, slot, request, code, lost, body);
    }
  }

  /** A peer that does not come back. */
  record Gone(int number) {
    private static final Codec<Gone> CODEC =
        Codec.of(Gone.class, Layout.of("AnswerLog.Gone").i32("number", "number of the peer"));
  }

  /** The request that a thread is serving; one without a peer is none. */
  private static final class Served {
    private RequestsUnderWay under;
    private ReplyPeer peer;
    private int slot;
    private long number;
    private boolean isNoted;
    private Unfinished<Answer> unfinished;

    private Answer lost(int of) {
      return new Answer(of, slot, number, 0, true, SmallValue.NONE);
    }
  }

  private final ThreadLocal<Served> serving = ThreadLocal.withInitial(Served::new);
  private final Map<Integer, Replies> restored = new HashMap<>();
  private volatile CommitLog log;
  private volatile RequestsUnderWay requests = new RequestsUnderWay();
  private int lastNumber;

  /** Notes what is answered from now on. */
  void noteIn(CommitLog newLog) {
    restored.clear();
    requests = newLog.requests();
    log = newLog;
  }

  @Override
  public void begin(ReplyPeer peer, int slot, long number) {
    Served served = serving.get();
    served.under = requests;
    served.under.begin();
    served.peer = peer;
    served.slot = slot;
    served.number = number;
    served.isNoted = false;
    served.unfinished = null;
  }

  @Override
  public void end() {
    Served served = serving.get();
    served.peer = null;
    served.under.end();
  }

  /** Notes a change, perhaps of the request that the calling thread serves. */
  void changed(CommitLog to, Change change) {
    Served served = serving.get();
    if (log == null || served.peer == null || served.isNoted) {
      to.changed(change);
      return;
    }
    served.isNoted = true;
    int of = named(to, served.peer);
    served.unfinished = new Unfinished<>(ANSWER, Answer.CODEC, served.lost(of));
    to.changed(change, served.unfinished);
  }

  /** Others are about to go on with the request that the calling thread serves. */
  void handsOver() {
    Served served = serving.get();
    if (served.peer != null && !served.isNoted) {
      served.isNoted = true;
      note(served.peer, served.lost(0), null);
    }
  }

  @Override
  public void answered(ReplyPeer peer, int slot, long number, ReplyLog.Answer reply) {
    if (log == null) {
      return;
    }
    Served served = serving.get();
    boolean isOwn = served.peer == peer && served.slot == slot && served.number == number;
    if (reply.isHeld() || !isOwn || served.isNoted) {
      note(peer, answer(slot, number, reply), isOwn ? served.unfinished : null);
    }
  }

  private void note(ReplyPeer peer, Answer answer, Unfinished<Answer> begun) {
    CommitLog to = log;
    if (to != null) {
      to.append(ANSWER, Answer.CODEC, answer.of(named(to, peer)), null, begun);
    }
  }

  /** The number of a peer, which the log knows. */
  private int named(CommitLog to, ReplyPeer peer) {
    if (peer.logNumber() == 0) {
      synchronized (peer) {
        if (peer.logNumber() == 0) {
          int number = nextNumber();
          append(to, peer, number);
          // Last, so that no other thread uses it before the record.
          peer.logNumber(number);
        }
      }
    }
    return peer.logNumber();
  }

  private synchronized int nextNumber() {
    return ++lastNumber;
  }

  @Override
  public void forgotten(ReplyPeer peer) {
    CommitLog to = log;
    if (to != null && peer.logNumber() != 0) {
      to.append(GONE, Gone.CODEC, new Gone(peer.logNumber()));
    }
  }

  private static void append(RecordTarget to, ReplyPeer peer, int number) {
    to.append(
        PEER,
        Peer.CODEC,
        new Peer(
            number,
            peer.principal().role().ordinal(),
            peer.client(),
            peer.peer(),
            peer.patienceNanos(),
            peer.principal().name()));
  }

  private static Answer answer(int slot, long number, ReplyLog.Answer reply) {
    boolean isLost = reply.isLost() || reply.length() > SmallValue.MAX_LENGTH;
    byte[] body = new byte[isLost ? 0 : reply.length()];
    if (!isLost) {
      reply.copyTo(ByteBuffer.wrap(body), 0);
    }
    return new Answer(0, slot, number, isLost ? 0 : reply.code(), isLost, SmallValue.of(body));
  }

  /** Writes all that is remembered, while nothing else uses it. */
  static void write(ReplyCache cache, RecordTarget target) {
    cache.forEach(
        replies -> {
          if (replies.peer().logNumber() != 0) {
            append(target, replies.peer(), replies.peer().logNumber());
            replies.forEach(
                (reply, slot) -> {
                  if (reply.number() >= 0) {
                    Answer answer = answer(slot, reply.number(), reply);
                    target.append(ANSWER, Answer.CODEC, answer.of(replies.peer().logNumber()));
                  }
                });
          }
        });
  }

  /**
   * The codec of a kind of records.
   *
   * @throws CrailException with {@link ErrorCode#INTERNAL} when there is no such kind
   */
  static Codec<?> codec(int kind) throws CrailException {
    require(kind >= PEER && kind <= GONE, "kind " + kind);
    return kind == PEER ? Peer.CODEC : kind == ANSWER ? Answer.CODEC : Gone.CODEC;
  }

  /** Whether a kind is that of answers, or of peers that do not come back. */
  static boolean isAnswer(int kind) {
    return kind == ANSWER || kind == GONE;
  }

  /** Forgets all that was restored. Returns the clients whose answers these were. */
  List<Long> forget(ReplyCache cache) {
    List<Long> clients = restored.values().stream().map(each -> each.peer().client()).toList();
    restored.values().forEach(cache::unrestore);
    restored.clear();
    return clients;
  }

  /** Remembers what a record says. */
  void restore(ReplyCache cache, int kind, ByteBuffer bytes, int offset, int length)
      throws CrailException {
    switch (kind) {
      case PEER -> restore(cache, Peer.CODEC.decode(bytes, offset, length));
      case ANSWER -> {
        Answer answer = Answer.CODEC.decode(bytes, offset, length);
        require(
            ReplyCache.restore(
                known(answer.peer),
                answer.slot,
                answer.request,
                answer.code,
                answer.lost,
                ByteBuffer.wrap(answer.body.bytes())),
            "no memory for an answer");
      }
      case GONE -> {
        int number = Gone.CODEC.decode(bytes, offset, length).number;
        cache.unrestore(known(number));
        restored.remove(number);
      }
      default -> require(false, "kind " + kind);
    }
  }

  private void restore(ReplyCache cache, Peer peer) throws CrailException {
    Principal.Role[] roles = Principal.Role.values();
    require(peer.role < roles.length, "role " + peer.role);
    Replies replies =
        cache.restore(
            new Principal(roles[peer.role], peer.name), peer.client, peer.peer, peer.patienceNanos);
    replies.peer().logNumber(peer.number);
    restored.put(peer.number, replies);
    lastNumber = Math.max(lastNumber, peer.number);
  }

  private Replies known(int peer) throws CrailException {
    Replies replies = restored.get(peer);
    if (replies == null) {
      throw ErrorCode.INTERNAL.exception("no peer " + peer);
    }
    return replies;
  }

  private static void require(boolean holds, String what) throws CrailException {
    if (!holds) {
      throw ErrorCode.INTERNAL.exception(what);
    }
  }
}
