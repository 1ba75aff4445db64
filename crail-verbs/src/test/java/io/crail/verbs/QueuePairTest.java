/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The life of a queue pair and its resources, without a peer. */
@Tag("rdma")
@Timeout(120)
class QueuePairTest {
  private static final InetSocketAddress SERVER = server();

  private static InetSocketAddress server() {
    try {
      String address = System.getProperty("crail.test.rdma.server", "10.9.0.2");
      return new InetSocketAddress(InetAddress.getByName(address), 0);
    } catch (java.net.UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void isMadeFailsAndGoes() throws Exception {
    long channel = Verbs.createEventChannel();
    long id = Verbs.createId(channel);
    Verbs.setReuseAddress(id, true);
    Verbs.bind(id, SERVER);
    long context = Verbs.context(id);
    String device = Verbs.deviceOf(id);
    int port = Verbs.devicePortOf(id);
    assertTrue(Verbs.portNumbers(device, port).length > 0);
    VerbsException cut =
        assertThrows(VerbsException.class, () -> Verbs.portNumbers(device, 256 + port));
    assertEquals(22, cut.errno());
    final long pd = Verbs.allocPd(context);
    final long completions = Verbs.createCompChannel(context);
    final long cq = Verbs.createCq(context, 16, completions, 0);
    ByteBuffer caps =
        ByteBuffer.allocateDirect(Layouts.QP_CAPS_SIZE).order(ByteOrder.nativeOrder());
    caps.putInt(Layouts.QP_CAPS_SEND_WRS, 4).putInt(Layouts.QP_CAPS_RECV_WRS, 4);
    caps.putInt(Layouts.QP_CAPS_SEND_SGES, 1).putInt(Layouts.QP_CAPS_RECV_SGES, 1);
    long qp = Verbs.createQp(id, pd, cq, cq, true, Verbs.addressOf(caps));
    assertNotEquals(0, Verbs.qpNumber(qp));
    assertNotEquals(Layouts.QP_STATE_ERROR, Verbs.qpState(qp));
    Verbs.setQpError(qp);
    assertEquals(Layouts.QP_STATE_ERROR, Verbs.qpState(qp));
    // Its queue is in use, so this fails with the name of the call.
    VerbsException busy = assertThrows(VerbsException.class, () -> Verbs.destroyCq(cq));
    assertEquals("ibv_destroy_cq: " + Verbs.errorText(16) + " (errno 16)", busy.getMessage());
    Verbs.destroyQp(id);
    Verbs.destroyQp(id);
    Verbs.destroyCq(cq);
    Verbs.destroyCompChannel(completions);
    Verbs.deallocPd(pd);
    Verbs.destroyId(id);
    Verbs.destroyEventChannel(channel);
    Verbs.closeRemovedDevices();
  }
}
