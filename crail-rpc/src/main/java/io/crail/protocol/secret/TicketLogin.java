/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The login by a {@link Ticket}, at a datanode. The client's first message has 24 bytes: the end of
 * the ticket, an unsigned number of seconds since 1970, and the first 20 bytes of a MAC by its key.
 * Where a connection has more than one message, the datanode answers with a nonce, the client
 * proves over it that it has the key, and the datanode proves the same. Where it has one, as in
 * RDMA's connection requests, the first message is the proof. Who can read it on its way may use it
 * until the ticket ends: there, the network has to be trusted. A connection ends with its ticket;
 * by then its client has another one. Thread-safe.
 */
public final class TicketLogin implements Mechanism {
  /** What the login is, for the page of the wire protocol. */
  public static final String DOCUMENTATION =
      """
      Mechanisms 2 and 3 are logins by a ticket, at datanodes: 3 where a login has one message, as over
      RDMA. A ticket is the end of its time (seconds since 1970, 4 bytes in big-endian order) and a key:
      HMAC-SHA256 under the datanode's key of "crail ticket 1", the datanode's UUID, the client's id
      and the end, in big-endian order. A namenode sends the end, the seconds until then in 4 bytes, and
      the key xor HMAC-SHA256 under the client's key of "crail ticket 1 mask" and the same. The client's
      first message is the end and the first 20 bytes of the MAC, under the ticket's key, of "ask" and a
      byte with the mechanism. For mechanism 3, the answer is the first 20 bytes of that of "answer".
      For 2 it is a nonce of 32 bytes; then come the MAC of "client" and the nonce, and, as the last
      message, that of "server", the nonce and the client's.
      """;

  static final int NUMBER = 2;
  static final int NUMBER_ONCE = 3;
  static final int FIRST = 24;

  private static final int SHORT = FIRST - Integer.BYTES;
  private static final byte[] ASK = SecretMessage.label("ask");
  private static final byte[] ANSWER = SecretMessage.label("answer");
  private static final byte[] CLIENT = SecretMessage.label("client");
  private static final byte[] SERVER = SecretMessage.label("server");

  private final Secrets secrets;
  private final Utf8 name;
  private final UUID datanode;
  private final boolean once;
  private final long goodNanos;
  private final Clock clock;

  /**
   * Creates the mechanism.
   *
   * @param secrets those of the datanode
   * @param name the datanode's name, where the secret file leaves the choice
   * @param datanode the datanode process
   * @param once whether the login is one message
   * @param goodNanos how long a key that was replaced is good for tickets
   */
  public TicketLogin(
      Secrets secrets, String name, UUID datanode, boolean once, long goodNanos, Clock clock) {
    this.goodNanos = goodNanos;
    this.secrets = secrets;
    this.name = Utf8.of(name);
    this.datanode = datanode;
    this.once = once;
    this.clock = clock;
  }

  @Override
  public int number() {
    return number(once);
  }

  static int number(boolean once) {
    return once ? NUMBER_ONCE : NUMBER;
  }

  @Override
  public String name() {
    return once ? "ticket-once" : "ticket";
  }

  @Override
  public Acceptor begin(Claim claim) {
    return new OneLogin(claim);
  }

  static byte[] first(Ticket ticket, boolean once) {
    byte[] proof = ticket.mac(ASK, new byte[] {(byte) number(once)});
    return ByteBuffer.allocate(FIRST).putInt(ticket.expiry()).put(proof, 0, SHORT).array();
  }

  static byte[] answer(Ticket ticket) {
    return Arrays.copyOf(ticket.mac(ANSWER), SHORT);
  }

  static byte[] proofOfClient(Ticket ticket, byte[] nonce) {
    return ticket.mac(CLIENT, nonce);
  }

  static byte[] proofOfServer(Ticket ticket, byte[] nonce, byte[] proof) {
    return ticket.mac(SERVER, nonce, proof);
  }

  private final class OneLogin implements Acceptor {
    private final Claim claim;
    private Ticket ticket;
    private byte[] nonce;

    OneLogin(Claim claim) {
      this.claim = claim;
    }

    @Override
    public Reply next(byte[] message) throws CrailException {
      if (ticket == null) {
        ticket = ticketOf(message);
        if (once) {
          return Reply.accept(answer(ticket), caller());
        }
        nonce = SecretMessage.newNonce();
        return Reply.challenge(nonce);
      }
      if (!LoginKey.same(proofOfClient(ticket, nonce), message)) {
        throw ErrorCode.UNAUTHENTICATED.exception("the proof of a ticket is wrong");
      }
      return Reply.accept(proofOfServer(ticket, nonce, message), caller());
    }

    private Caller caller() {
      // Whoever has stolen the datanode's key chooses the end of its tickets.
      long most = clock.currentTimeMillis() / 1000 + TimeUnit.NANOSECONDS.toSeconds(goodNanos);
      return new Caller(
          Principal.ANYBODY,
          claim.client(),
          Set.of(Right.ANY, Right.USE),
          null,
          Math.min(Integer.toUnsignedLong(ticket.expiry()), most));
    }

    private Ticket ticketOf(byte[] message) throws CrailException {
      if (message.length != FIRST) {
        throw ErrorCode.UNAUTHENTICATED.exception("a ticket of " + message.length + " bytes");
      }
      int expiry = ByteBuffer.wrap(message).getInt();
      for (LoginKey key : secrets.keysWithin(goodNanos, Principal.Role.DATANODE, name)) {
        Ticket expected = Ticket.of(key, datanode, claim.client(), expiry);
        if (LoginKey.same(first(expected, once), message)) {
          if (Integer.toUnsignedLong(expiry) < clock.currentTimeMillis() / 1000) {
            throw ErrorCode.UNAUTHENTICATED.exception("the ticket has expired");
          }
          return expected;
        }
      }
      throw ErrorCode.UNAUTHENTICATED.exception("no ticket for this datanode and client");
    }
  }
}
