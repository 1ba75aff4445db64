/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.Right;
import java.util.Set;

/**
 * A login that takes some rounds, for tests: each message is one byte, the next number after the
 * other side's. The server then calls the client "counted", and gives it one right.
 *
 * @param rounds messages of the client
 */
public record CountingLogin(int rounds) implements Mechanism {
  /** Above those that Crail may use. */
  public static final int NUMBER = 250;

  /** The caller that the server makes of a client that can count. */
  public static final Principal PRINCIPAL =
      new Principal(Principal.Role.CLIENT, Utf8.of("counted"));

  @Override
  public int number() {
    return NUMBER;
  }

  @Override
  public String name() {
    return "counting";
  }

  @Override
  public Acceptor begin(Claim claim) {
    return new Acceptor() {
      private int expected;
      private int messages;

      @Override
      public Reply next(byte[] message) throws CrailException {
        if (message.length != 1 || message[0] != expected) {
          throw ErrorCode.INVALID_ARGUMENT.exception("it cannot count");
        }
        messages++;
        byte[] answer = {(byte) (expected + 1)};
        expected += 2;
        return messages < rounds
            ? Reply.challenge(answer)
            : Reply.accept(answer, new Caller(PRINCIPAL, claim.client(), Set.of(Right.USE)));
      }
    };
  }

  /**
   * A client that counts by steps.
   *
   * @param step 1 is right
   * @param firstLength bytes of the first message; 1 is right
   */
  public record Counter(int step, int firstLength) implements Credentials {
    /** A client whose first message is right. */
    public Counter(int step) {
      this(step, 1);
    }

    @Override
    public int mechanism() {
      return NUMBER;
    }

    @Override
    public Initiator begin(Claim claim) {
      return new Initiator() {
        @Override
        public byte[] first() {
          return new byte[firstLength];
        }

        @Override
        public byte[] next(byte[] challenge) {
          return new byte[] {(byte) (challenge[0] + step)};
        }

        @Override
        public void accepted(byte[] last) {
          if (last.length != 1) {
            throw new AssertionError("the server's last message");
          }
        }
      };
    }
  }
}
