/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.AskPeer;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.secret.Secrets;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The proof of a question from peer to peer that it is from a namenode of the cluster: a MAC of its
 * fields and its time by the key of namenodes. The peers that do not serve take no logins, so the
 * question brings its proof along. Who has recorded it can only repeat it, and only for a few
 * minutes. Thread-safe.
 *
 * @param secrets those of the namenode; null if there are none, and nothing is proved
 */
record PeerProof(Secrets secrets, Clock clock) {
  /** By how much the clocks of peers may differ. */
  static final long MOST_SECONDS = 300;

  private static final byte[] LABEL = "crail peer 1".getBytes(StandardCharsets.UTF_8);

  /** The question with its proof. */
  AskPeer.Request signed(int peer, boolean ready, long number, long group) {
    long seconds = clock.currentTimeMillis() / 1000;
    AskPeer.Request bare =
        new AskPeer.Request(peer, ready, number, group, seconds, SmallValue.NONE);
    List<LoginKey> keys = keys();
    return keys.isEmpty()
        ? bare
        // That of the oldest master secret, which the others have as long as this one has it.
        : new AskPeer.Request(
            peer, ready, number, group, seconds, mac(keys.get(keys.size() - 1), bare));
  }

  /**
   * Requires that a question has a good proof, where there are secrets.
   *
   * @throws CrailException with {@link ErrorCode#UNAUTHENTICATED}
   */
  void require(AskPeer.Request request) throws CrailException {
    if (secrets == null) {
      return;
    }
    long seconds = clock.currentTimeMillis() / 1000;
    if (Math.abs(seconds - request.seconds()) > MOST_SECONDS) {
      throw ErrorCode.UNAUTHENTICATED.exception(
          "the clocks of the peers differ by more than " + MOST_SECONDS + " s");
    }
    for (LoginKey key : keys()) {
      if (LoginKey.same(mac(key, request).bytes(), request.proof().bytes())) {
        return;
      }
    }
    throw ErrorCode.UNAUTHENTICATED.exception("not a namenode of this cluster");
  }

  private List<LoginKey> keys() {
    return secrets == null ? List.of() : secrets.keys(Principal.Role.NAMENODE, Secrets.NAMENODE);
  }

  private static SmallValue mac(LoginKey key, AskPeer.Request request) {
    byte[] fields =
        ByteBuffer.allocate(Integer.BYTES + 1 + 3 * Long.BYTES)
            .putInt(request.peer())
            .put((byte) (request.ready() ? 1 : 0))
            .putLong(request.number())
            .putLong(request.group())
            .putLong(request.seconds())
            .array();
    return SmallValue.of(key.mac(LABEL, fields));
  }
}
