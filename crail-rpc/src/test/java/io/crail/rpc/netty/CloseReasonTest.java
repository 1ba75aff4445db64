/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class CloseReasonTest {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private static final Service SILENT =
      new Service() {
        @Override
        public void serve(RequestBatch batch, ResponseWriter responses) {}

        @Override
        public void closed(Session session) {}
      };

  @Test
  void onlyThatThePeerHasGoneIsOrdinary() {
    assertEquals(
        List.of(CloseReason.NETWORK),
        Arrays.stream(CloseReason.values()).filter(CloseReason::isOrdinary).toList());
  }

  /** As the kernel ends the connections of a program that is killed with data unread. */
  @Test
  void aPeerThatVanishesIsTakenForGone() throws IOException {
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (Transport transport = new NettyTransport(Configuration.builder().build());
        Transport.ServerEndpoint server = transport.listen("server", any, SILENT)) {
      try (Socket socket = new Socket()) {
        socket.connect(server.address());
        // Only what was accepted can be seen to go.
        await(() -> server.statistics().get("connections") == 1);
        socket.setSoLinger(true, 0);
      }
      await(() -> server.statistics().get("ended-network") == 1);
      assertEquals(0, server.statistics().get("ended-failed"));
    }
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "not in time");
      Thread.onSpinWait();
    }
  }
}
