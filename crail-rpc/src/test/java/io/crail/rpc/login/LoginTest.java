/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Both halves of a login without a transport. */
class LoginTest {
  private static final Claim CLAIM =
      new Claim(new Principal(Principal.Role.DATANODE, Utf8.of("me")), 7, 1, 0, Utf8.of("here"));
  private static final byte[] EMPTY = {};

  private int accepted;

  /** Accepts the client after so many of its messages; each must be as long as its number. */
  private Mechanism mechanism(int messages) {
    return new Mechanism() {
      @Override
      public int number() {
        return 200;
      }

      @Override
      public String name() {
        return "lengths";
      }

      @Override
      public Acceptor begin(Claim claim) {
        int[] count = {0};
        return message -> {
          if (message.length != count[0]++) {
            throw ErrorCode.INVALID_ARGUMENT.exception("no proof");
          }
          byte[] answer = new byte[count[0]];
          return count[0] < messages
              ? Reply.challenge(answer)
              : Reply.accept(answer, new Caller(Principal.ANYBODY, claim.client(), Right.ALL));
        };
      }
    };
  }

  /** Answers each message with one as long. */
  private final Credentials credentials =
      new Credentials() {
        @Override
        public int mechanism() {
          return 200;
        }

        @Override
        public Initiator begin(Claim claim) {
          return new Initiator() {
            @Override
            public byte[] first() {
              return EMPTY;
            }

            @Override
            public byte[] next(byte[] challenge) {
              return challenge;
            }

            @Override
            public void accepted(byte[] last) {
              accepted += last.length;
            }
          };
        }
      };

  private ServerLogin server(int messages) throws CrailException {
    return new ServerLogin(
        new Mechanisms(List.of(Anybody.MECHANISM, mechanism(messages))), 200, CLAIM);
  }

  private static void refused(ErrorCode code, Executable login) {
    assertEquals(code, assertThrows(CrailException.class, login).code());
  }

  /** Gives the number of messages of the client. */
  private static int talk(ClientLogin client, ServerLogin server) throws CrailException {
    for (int messages = 1; ; messages++) {
      Mechanism.Reply reply = server.next(client.message());
      client.answered(reply.caller() == null, reply.message());
      if (reply.caller() != null) {
        assertEquals(CLAIM.client(), reply.caller().client());
        return messages;
      }
    }
  }

  @Test
  void endsInACallerAfterOneMessageOrMore() throws Exception {
    ServerLogin anybody = new ServerLogin(Mechanisms.ANYBODY, 0, CLAIM);
    Caller caller = anybody.next(EMPTY).caller();
    assertEquals(CLAIM.principal(), caller.principal());
    assertEquals(7, caller.client());
    assertEquals(Right.of(CLAIM.principal().role()), caller.rights());
    assertEquals(CLAIM, anybody.claim());
    for (int messages = 1; messages <= ServerLogin.MOST_MESSAGES; messages++) {
      accepted = 0;
      assertEquals(messages, talk(new ClientLogin(credentials, CLAIM), server(messages)));
      assertEquals(messages, accepted, "the server's last message");
    }
  }

  @Test
  void tooManyMessagesAreRefusedByBothSides() throws Exception {
    ServerLogin server = server(ServerLogin.MOST_MESSAGES + 1);
    for (int i = 0; i < ServerLogin.MOST_MESSAGES; i++) {
      assertNull(server.next(new byte[i]).caller());
    }
    refused(ErrorCode.PROTOCOL, () -> server.next(new byte[ServerLogin.MOST_MESSAGES]));
    ClientLogin client = new ClientLogin(credentials, CLAIM);
    for (int i = 1; i < ServerLogin.MOST_MESSAGES; i++) {
      client.answered(true, EMPTY);
    }
    refused(ErrorCode.PROTOCOL, () -> client.answered(true, EMPTY));
  }

  @Test
  void tooLongMessagesAreRefusedByBothSides() throws Exception {
    byte[] tooLong = new byte[ServerLogin.MAX_MESSAGE + 1];
    refused(ErrorCode.PROTOCOL, () -> server(2).next(tooLong));
    refused(ErrorCode.PROTOCOL, () -> new ClientLogin(credentials, CLAIM).answered(true, tooLong));
    refused(ErrorCode.PROTOCOL, () -> new ClientLogin(credentials, CLAIM).answered(false, tooLong));
  }

  /** Sends messages of this length. */
  private static Credentials ofLength(int first, int next) {
    return new Credentials() {
      @Override
      public int mechanism() {
        return 200;
      }

      @Override
      public Initiator begin(Claim claim) {
        return new Initiator() {
          @Override
          public byte[] first() {
            return new byte[first];
          }

          @Override
          public byte[] next(byte[] challenge) {
            return new byte[next];
          }
        };
      }
    };
  }

  @Test
  void eachSideFailsByItselfWhenItsOwnMessageIsTooLong() throws Exception {
    int most = ServerLogin.MAX_MESSAGE;
    refused(ErrorCode.INVALID_ARGUMENT, () -> new ClientLogin(ofLength(most + 1, 0), CLAIM));
    new ClientLogin(ofLength(most, most), CLAIM).answered(true, EMPTY);
    ClientLogin client = new ClientLogin(ofLength(most, most + 1), CLAIM);
    refused(ErrorCode.INVALID_ARGUMENT, () -> client.answered(true, EMPTY));
    for (Mechanism.Reply reply :
        List.of(
            Mechanism.Reply.challenge(new byte[most + 1]),
            Mechanism.Reply.accept(
                new byte[most + 1], new Caller(Principal.ANYBODY, 7, Right.ALL)))) {
      ServerLogin server = new ServerLogin(new Mechanisms(List.of(replying(reply))), 200, CLAIM);
      String bug = assertThrows(IllegalStateException.class, () -> server.next(EMPTY)).getMessage();
      assertTrue(bug.contains("'replying'") && bug.contains("1025"), bug);
      refused(ErrorCode.PROTOCOL, () -> server.next(EMPTY));
    }
  }

  /** Answers every message alike. */
  private static Mechanism replying(Mechanism.Reply reply) {
    return new Mechanism() {
      @Override
      public int number() {
        return 200;
      }

      @Override
      public String name() {
        return "replying";
      }

      @Override
      public Acceptor begin(Claim claim) {
        return message -> reply;
      }
    };
  }

  @Test
  void aRefusedLoginIsOver() throws Exception {
    ServerLogin server = server(2);
    refused(ErrorCode.INVALID_ARGUMENT, () -> server.next(new byte[5]));
    refused(ErrorCode.PROTOCOL, () -> server.next(EMPTY));
    ServerLogin accepted = server(1);
    accepted.next(EMPTY);
    refused(ErrorCode.PROTOCOL, () -> accepted.next(new byte[1]));
  }

  @Test
  void aServerTakesItsOwnMechanismsOnly() {
    CrailException refusal =
        assertThrows(CrailException.class, () -> new ServerLogin(Mechanisms.ANYBODY, 200, CLAIM));
    assertEquals(ErrorCode.UNSUPPORTED, refusal.code());
    assertTrue(refusal.getMessage().contains("0 (anybody)"), refusal.getMessage());
    assertThrows(
        IllegalArgumentException.class,
        () -> new Mechanisms(List.of(Anybody.MECHANISM, Anybody.MECHANISM)));
  }

  @Test
  void aMissingSecretIsReported() throws Exception {
    refused(
        ErrorCode.PROTOCOL, () -> new ServerLogin(Mechanisms.ANYBODY, 0, CLAIM).next(new byte[1]));
    ClientLogin client = new ClientLogin(Anybody.CREDENTIALS, CLAIM);
    assertArrayEquals(EMPTY, client.message());
    refused(ErrorCode.PROTOCOL, () -> client.answered(true, EMPTY));
    refused(ErrorCode.PROTOCOL, () -> client.answered(false, new byte[1]));
    client.answered(false, EMPTY);
  }
}
