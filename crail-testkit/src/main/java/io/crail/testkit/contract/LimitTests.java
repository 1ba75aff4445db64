/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static io.crail.testkit.contract.TransportBench.echo;
import static io.crail.testkit.contract.TransportBench.failWith;
import static io.crail.testkit.contract.TransportBench.pattern;
import static io.crail.testkit.contract.TransportBench.succeed;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is too long, too much or too fast is refused or waits. */
interface LimitTests extends TransportBench {
  @Test
  default void refusesARequestThatIsTooLong() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, new byte[Frame.MAX_BODY_LENGTH + 1], LONG);
    call.submit();
    failWith(ErrorCode.LIMIT_EXCEEDED, call);
    echo(peer, 10);
  }

  @Test
  default void refusesMoreThanItMayQueue() throws Exception {
    RpcPeer.Options options = new RpcPeer.Options(2, 3, 3, LONG, 1_000_000);
    RpcPeer peer = newPeer(newLoop(), newServer().address(), options);
    echo(peer, 10);
    holdAnswers();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(i), LONG);
      call.submit();
      calls.add(call);
    }
    failWith(ErrorCode.LIMIT_EXCEEDED, calls.remove(5));
    releaseAnswers();
    for (EchoCall call : calls) {
      succeed(call);
    }
  }

  @Test
  default void pushesBackWhenThePeerDoesNotRead() throws Exception {
    ClientLoop loop = newLoop();
    Transport.ServerEndpoint server = newServer();
    Flood flood = new Flood();
    loop.submit(
        () -> loop.connector().connect(server.address(), loop.clock().nanoTime() + LONG, flood));
    drive(loop, "a connection", () -> flood.connection != null);
    holdAnswers();
    loop.submit(flood::send);
    drive(loop, "back-pressure", () -> flood.refusals > 0);
    int sentBefore = flood.sent;
    assertTrue(sentBefore * (long) Flood.LENGTH < 64 << 20, "unbounded: " + sentBefore);
    releaseAnswers();
    drive(loop, "all answers", () -> flood.received >= flood.goal());
    assertTrue(flood.sent > sentBefore, "must go on when the peer reads again");
    assertNull(flood.trouble);
    loop.submit(() -> flood.connection.close("done"));
    drive(loop, "the end", () -> flood.closed);
  }

  /** Sends as long as there is room, some frames more than fit after that, and checks answers. */
  final class Flood implements Connection.Handler {
    static final int LENGTH = 50_000;
    private static final int MORE = 100;

    volatile int refusals;
    volatile int sent;
    volatile int received;
    volatile boolean closed;
    volatile String trouble;
    volatile Connection connection;
    private int firstRefusalAt = -1;

    int goal() {
      return firstRefusalAt + MORE;
    }

    @Override
    public void connected(Connection newConnection) {
      connection = newConnection;
    }

    private void send() {
      while (firstRefusalAt < 0 || sent < goal()) {
        int offset = connection.reserve(LENGTH);
        if (offset < 0) {
          refusals++;
          firstRefusalAt = firstRefusalAt < 0 ? sent : firstRefusalAt;
          break;
        }
        ByteBuffer out = connection.output();
        Frame.write(out, offset, LENGTH, EchoService.ECHO, Frame.KIND_REQUEST, sent);
        out.putLong(offset + LENGTH - Long.BYTES, sent);
        connection.commit(LENGTH);
        sent++;
      }
      connection.flush();
    }

    @Override
    public void received(ByteBuffer buffer, int offset, int frameLength) {
      long id = Frame.correlationId(buffer, offset);
      if (frameLength != LENGTH
          || id != received
          || buffer.getLong(offset + LENGTH - Long.BYTES) != id) {
        trouble = "answer " + received + " is " + id + " of " + frameLength + " bytes";
      }
      received++;
    }

    @Override
    public void writable() {
      send();
    }

    @Override
    public void closed(String cause) {
      closed = true;
    }
  }
}
