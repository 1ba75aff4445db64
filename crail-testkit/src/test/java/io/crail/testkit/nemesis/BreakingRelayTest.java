/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;

class BreakingRelayTest {
  private static final int SILENT_MILLIS = 100;

  @Test
  void deliversLateWhatAClientHasLeft() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        BreakingRelay relay = relayTo(server)) {
      Socket client = new Socket(InetAddress.getLoopbackAddress(), relay.port());
      try (Socket old = server.accept()) {
        client.getOutputStream().write(1);
        assertEquals(1, old.getInputStream().read());

        relay.mode(BreakingRelay.Mode.HOLD);
        client.getOutputStream().write(2);
        client.close();
        old.setSoTimeout(SILENT_MILLIS);
        assertThrows(SocketTimeoutException.class, () -> old.getInputStream().read());

        relay.mode(BreakingRelay.Mode.FORWARD);
        old.setSoTimeout(0);
        assertEquals(2, old.getInputStream().read());
        assertEquals(-1, old.getInputStream().read());
      }
    }
  }

  @Test
  void losesTheAnswersOfAServerThatWasMute() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        BreakingRelay relay = relayTo(server);
        Socket client = new Socket(InetAddress.getLoopbackAddress(), relay.port());
        Socket present = server.accept()) {
      client.getOutputStream().write(1);
      assertEquals(1, present.getInputStream().read());

      relay.mode(BreakingRelay.Mode.MUTE);
      client.getOutputStream().write(2);
      assertEquals(2, present.getInputStream().read());
      present.getOutputStream().write(3);
      client.setSoTimeout(SILENT_MILLIS);
      assertThrows(SocketTimeoutException.class, () -> client.getInputStream().read());

      present.close();
      relay.mode(BreakingRelay.Mode.CUT);
      relay.mode(BreakingRelay.Mode.FORWARD);
      client.setSoTimeout(0);
      assertEquals(-1, client.getInputStream().read());
    }
  }

  private static BreakingRelay relayTo(ServerSocket server) throws IOException {
    return new BreakingRelay(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
  }
}
