/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Principal;
import io.crail.rpc.login.ServerLogin;
import io.crail.testkit.contract.CountingLogin;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * A login of one message or more, of which the other side sends anything. Either half must accept
 * what the model says, once, and nothing after its end.
 *
 * <pre>[1: the client's half][messages that are wanted]{ [flags][length, 2 bytes][bytes] } ...
 * </pre>
 */
final class LoginsTarget implements Target {
  private static final int MORE = 1;
  private static final int MOST_STEPS = 24;
  private static final Claim CLAIM =
      new Claim(new Principal(Principal.Role.CLIENT, Utf8.of("u")), 7, 1, 0, Utf8.of("a"));

  @Override
  public void run(byte[] bytes) throws CrailException {
    Input input = new Input(bytes);
    boolean client = input.u8() == 1;
    int wanted = 1 + input.below(ServerLogin.MOST_MESSAGES + 1);
    if (client) {
      playServer(input);
    } else {
      playClient(input, wanted);
    }
  }

  /** The input is the client. */
  private static void playClient(Input input, int wanted) throws CrailException {
    Mechanisms mechanisms = new Mechanisms(List.of(Anybody.MECHANISM, new CountingLogin(wanted)));
    ServerLogin login = new ServerLogin(mechanisms, CountingLogin.NUMBER, CLAIM);
    boolean over = false;
    int count = 0;
    for (int step = 0; step < MOST_STEPS && input.left() > 0; step++) {
      input.u8();
      byte[] message = input.take(input.u16());
      ErrorCode code = ErrorCode.OK;
      if (over || message.length > ServerLogin.MAX_MESSAGE || count == ServerLogin.MOST_MESSAGES) {
        code = ErrorCode.PROTOCOL;
      } else if (message.length != 1 || message[0] != 2 * count) {
        code = ErrorCode.INVALID_ARGUMENT;
      }
      count++;
      try {
        Mechanism.Reply reply = login.next(message);
        Require.equal(code, ErrorCode.OK, "a message is taken");
        Require.equal(count == wanted, reply.caller() != null, "accepted after " + count);
        over = reply.caller() != null;
      } catch (CrailException e) {
        Require.equal(code, e.code(), "message " + count + " of " + wanted);
        over = true;
      }
    }
  }

  /** The input is the server. */
  private static void playServer(Input input) throws CrailException {
    ClientLogin login = new ClientLogin(new CountingLogin.Counter(1), CLAIM);
    int count = 1;
    for (int step = 0; step < MOST_STEPS && input.left() > 0; step++) {
      boolean more = (input.u8() & MORE) != 0;
      byte[] message = input.take(input.u16());
      boolean bad =
          message.length > ServerLogin.MAX_MESSAGE || (more && count == ServerLogin.MOST_MESSAGES);
      if (!bad && message.length != 1) {
        // The credentials would not take it.
        return;
      }
      byte[] last = login.message();
      try {
        login.answered(more, message);
        Require.that(!bad, "a message is taken");
        count += more ? 1 : 0;
      } catch (CrailException e) {
        Require.that(bad && e.code() == ErrorCode.PROTOCOL, e::toString);
        return;
      }
      Require.that(
          more ? login.message()[0] == (byte) (message[0] + 1) : login.message() == last, "reply");
      if (!more) {
        return;
      }
    }
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    for (int wanted : new int[] {1, 3, ServerLogin.MOST_MESSAGES, ServerLogin.MOST_MESSAGES + 1}) {
      for (int half = 0; half < 2; half++) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(half);
        out.write(wanted - 1);
        for (int i = 0; i < wanted; i++) {
          out.write(i < wanted - 1 ? MORE : 0);
          out.writeBytes(new byte[] {1, 0, (byte) (2 * i + half)});
        }
        seeds.add(out.toByteArray());
      }
    }
    return seeds;
  }
}
