/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;

/** The login without a proof: one empty message, and the server believes the claim. */
public final class Anybody {
  private static final int NUMBER = 0;
  private static final byte[] EMPTY = {};

  /** Believes every claim. */
  public static final Mechanism MECHANISM =
      new Mechanism() {
        @Override
        public int number() {
          return NUMBER;
        }

        @Override
        public String name() {
          return "anybody";
        }

        @Override
        public Acceptor begin(Claim claim) {
          return message -> accept(claim, message);
        }
      };

  /** Proves nothing. */
  public static final Credentials CREDENTIALS =
      new Credentials() {
        @Override
        public int mechanism() {
          return NUMBER;
        }

        @Override
        public Initiator begin(Claim claim) {
          return INITIATOR;
        }
      };

  private static final Credentials.Initiator INITIATOR =
      new Credentials.Initiator() {
        @Override
        public byte[] first() {
          return EMPTY;
        }

        @Override
        public byte[] next(byte[] challenge) throws CrailException {
          throw ErrorCode.PROTOCOL.exception("the server wants a proof, and this client has none");
        }
      };

  private Anybody() {}

  private static Mechanism.Reply accept(Claim claim, byte[] message) throws CrailException {
    if (message.length > 0) {
      throw ErrorCode.PROTOCOL.exception("a proof of " + message.length + " bytes for no secret");
    }
    return Mechanism.Reply.accept(
        EMPTY, new Caller(claim.principal(), claim.client(), Right.of(claim.principal().role())));
  }
}
