/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.darpc.DarpcDoor;
import io.crail.rpc.login.Mechanisms;
import io.crail.storage.network.DataHello;
import io.crail.storage.network.DataLogin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * The private data of a connection over RDMA. The handshakes over TCP are ordinary requests, see
 * {@link MessagesTarget}.
 *
 * <pre>[bytes in front of the data][private data ...]</pre>
 */
final class HandshakesTarget implements Target {
  private static final UUID OWN = new UUID(0x0102030405060708L, 0x1112131415161718L);
  private static final long CLIENT = 0x1817161514131211L;
  private static final int GREETING_LENGTH = 16;

  @Override
  public void run(byte[] bytes) {
    Input input = new Input(bytes);
    byte[] front = input.take(input.below(9));
    byte[] data = input.rest();
    // In the middle of a buffer, as in production.
    ByteBuffer whole = ByteBuffer.allocate(front.length + data.length);
    whole.put(front).put(data).flip().position(front.length);
    checkStorage(whole.duplicate(), data);
    checkDarpc(whole.duplicate());
  }

  private static void checkStorage(ByteBuffer data, byte[] bytes) {
    ErrorCode verdict = verdict(data.duplicate());
    // Any number may be the id of a client.
    int length = DataHello.Request.LAYOUT.fixedLength();
    long client =
        bytes.length < length
            ? CLIENT
            : ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(length - Long.BYTES);
    boolean right = startsWith(bytes, DataHello.bytes(DataHello.request(OWN, client)).array());
    Require.equal(right, verdict == ErrorCode.OK, "a request is taken with " + verdict);
    DataHello.Response answer = DataHello.response(data.duplicate());
    boolean ends = answer != null && !answer.more() && answer.message().length() == 0;
    if (ends && DataHello.answer(answer) == ErrorCode.OK) {
      Require.that(
          startsWith(bytes, DataHello.bytes(DataHello.response(ErrorCode.OK)).array()),
          "an answer is taken");
    }
  }

  private static ErrorCode verdict(ByteBuffer data) {
    try {
      DataLogin login = new DataLogin(Mechanisms.ANYBODY, OWN);
      login.onlyHello(DataHello.request(data), 148);
      return ErrorCode.OK;
    } catch (CrailException e) {
      return e.code();
    }
  }

  private static boolean startsWith(byte[] bytes, byte[] prefix) {
    return bytes.length >= prefix.length
        && Arrays.equals(bytes, 0, prefix.length, prefix, 0, prefix.length);
  }

  private static void checkDarpc(ByteBuffer data) {
    String reason = DarpcDoor.reason(data.duplicate());
    Require.that(reason.length() <= data.remaining(), "a reason that grows");
    try {
      int[] greeting = DarpcDoor.greeting(data.duplicate());
      if (greeting != null) {
        ByteBuffer again = DarpcDoor.greeting(greeting[0], greeting[1]);
        Require.equal(again, data.slice(data.position(), GREETING_LENGTH), "greeting");
        Require.that(greeting[0] >= 64 && greeting[0] <= 128 << 10, "messages of " + greeting[0]);
        Require.that(greeting[1] >= 4 && greeting[1] <= 32 << 10, greeting[1] + " receives");
      }
    } catch (CrailException e) {
      Require.equal(ErrorCode.PROTOCOL, e.code(), "refusal of a greeting");
    }
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    for (ByteBuffer data :
        List.of(
            DataHello.bytes(DataHello.request(OWN, CLIENT)),
            DataHello.bytes(DataHello.response(ErrorCode.OK)),
            DataHello.bytes(DataHello.response(ErrorCode.DATA_LOST)),
            DataHello.bytes(MessagesTarget.LOGIN_HELLO),
            DataHello.bytes(MessagesTarget.LOGIN_ANSWERS.get(0)),
            DataHello.bytes(MessagesTarget.LOGIN_ANSWERS.get(1)),
            DarpcDoor.greeting(4096, 64),
            DarpcDoor.refusal("too many connections"))) {
      byte[] seed = new byte[1 + data.remaining()];
      data.get(seed, 1, data.remaining());
      seeds.add(seed);
    }
    return seeds;
  }
}
