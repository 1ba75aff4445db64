/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.LoginKey;

/**
 * What a client logs in with at one datanode. See {@link TicketLogin}. Immutable.
 *
 * @param ticket for that datanode
 * @param once whether the login is one message
 */
public record TicketCredentials(Ticket ticket, boolean once) implements Credentials {
  @Override
  public int mechanism() {
    return TicketLogin.number(once);
  }

  @Override
  public Initiator begin(Claim claim) {
    return new OneLogin(ticket, once);
  }

  private static final class OneLogin implements Initiator {
    private final Ticket ticket;
    private final boolean once;
    private byte[] nonce;
    private byte[] proof;

    OneLogin(Ticket ticket, boolean once) {
      this.ticket = ticket;
      this.once = once;
    }

    @Override
    public byte[] first() {
      return TicketLogin.first(ticket, once);
    }

    @Override
    public byte[] next(byte[] challenge) throws CrailException {
      if (once || nonce != null || challenge.length != SecretMessage.NONCE) {
        throw ErrorCode.PROTOCOL.exception("a challenge of " + challenge.length + " bytes");
      }
      nonce = challenge;
      proof = TicketLogin.proofOfClient(ticket, nonce);
      return proof;
    }

    @Override
    public void accepted(byte[] last) throws CrailException {
      boolean isRight =
          once
              ? LoginKey.same(TicketLogin.answer(ticket), last)
              : nonce != null
                  && LoginKey.same(TicketLogin.proofOfServer(ticket, nonce, proof), last);
      if (!isRight) {
        throw ErrorCode.UNAUTHENTICATED.exception(
            "the datanode has not proved that it is " + ticket.datanode());
      }
    }
  }
}
