/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests that need the native library but no device. */
class VerbsTest {
  private static final int EINVAL = -22;

  @BeforeAll
  static void needsTheLibrary() {
    Library.file();
  }

  @Test
  void aFailureHasCallNumberAndText() throws VerbsException {
    assumeTrue(Verbs.devices().isEmpty(), "there are devices here");
    VerbsException e = assertThrows(VerbsException.class, Verbs::createEventChannel);
    assertEquals("rdma_create_event_channel", e.call());
    assertTrue(List.of(2, 19).contains(e.errno()), e.getMessage());
    assertEquals(
        "rdma_create_event_channel: " + Verbs.errorText(e.errno()) + " (errno " + e.errno() + ")",
        e.getMessage());
  }

  private static void refused(String call, Executable action) {
    VerbsException e = assertThrows(VerbsException.class, action);
    assertEquals(call, e.call());
    assertEquals(-EINVAL, e.errno(), e.getMessage());
  }

  /**
   * Numbers that C would truncate, and lengths beyond a buffer. There is no device that could
   * refuse them.
   */
  @Test
  void numbersThatDoNotFitAreRefused() {
    for (int port : new int[] {-1, 256, 257, Integer.MAX_VALUE}) {
      refused("ibv_query_port", () -> Verbs.portNumbers("nothing0", port));
      refused("ibv_query_gid", () -> Verbs.gidTable("nothing0", port, 1));
    }
    refused("ibv_query_gid", () -> Verbs.gidTable("nothing0", 1, -1));
    refused("ibv_query_gid", () -> Verbs.gidTable("nothing0", 1, Integer.MAX_VALUE));
    refused("ibv_reg_mr", () -> Verbs.regMr(0, 0, -1, 0));
    refused("rdma_resolve_route", () -> Verbs.resolveRoute(0, -1));
    refused("rdma_resolve_addr", () -> Verbs.resolveAddress(0, new byte[4], 1, 0, -1));
    refused("rdma_bind_addr", () -> Verbs.bind(0, new byte[4], 65536, 0));
    refused("rdma_set_option", () -> Verbs.setAckTimeout(0, 32));
    refused("rdma_connect", () -> Verbs.connect(0, 256, 0, 0, 0, 0, 0));
    refused("rdma_connect", () -> Verbs.connect(0, 0, 0, 8, 0, 0, 0));
    refused("rdma_connect", () -> Verbs.connect(0, 0, 0, 0, 0, 0, -1));
    refused("rdma_connect", () -> Verbs.connect(0, 0, 0, 0, 0, 0, Verbs.MAX_CONNECT_DATA + 1));
    refused("rdma_accept", () -> Verbs.accept(0, 0, 0, 0, 0, Verbs.MAX_ACCEPT_DATA + 1));
    refused("rdma_reject", () -> Verbs.reject(0, 0, -1));
    refused("rdma_get_cm_event", () -> Verbs.getCmEvent(0, -1, 0));
    assertEquals(EINVAL, Verbs.getCqEvent(0, -1));
    assertEquals(EINVAL, Verbs.awaitReadable(null, 0));
    assertEquals(EINVAL, Verbs.awaitReadable(new int[Verbs.MAX_DESCRIPTORS + 1], 0));
    assertEquals(EINVAL, Verbs.awaitReadable(new int[1], -1));
  }

  @Test
  void addressesOfOtherLengthsAreRefused() {
    for (int length : new int[] {0, 3, 15, 17, 100}) {
      VerbsException e =
          assertThrows(VerbsException.class, () -> Verbs.bind(0, new byte[length], 1, 0));
      assertEquals(
          "rdma_bind_addr: Address family not supported by protocol (errno 97)", e.getMessage());
    }
  }

  @Test
  void anIdWithoutADeviceHasNothing() throws VerbsException {
    // As librdmacm has it at first: all zeros.
    long id = Verbs.addressOf(ByteBuffer.allocateDirect(1024));
    Verbs.destroyQp(id);
    assertEquals(0, Verbs.context(id));
    assertEquals(0, Verbs.devicePortOf(id));
    assertNull(Verbs.deviceOf(id));
    refused("rdma_disconnect", () -> Verbs.disconnect(id));
    refused("rdma_resolve_route", () -> Verbs.resolveRoute(id, 1));
    refused("rdma_connect", () -> Verbs.connect(id, 0, 0, 0, 0, 0, 0));
    long caps = Verbs.addressOf(ByteBuffer.allocateDirect(Layouts.QP_CAPS_SIZE));
    refused("rdma_create_qp", () -> Verbs.createQp(id, 0, 0, 0, false, caps));
    Verbs.closeRemovedDevices();
  }

  @Test
  void anUnknownDeviceIsNamed() {
    VerbsException e = assertThrows(VerbsException.class, () -> Verbs.device("nothing0"));
    assertEquals("ibv_open_device: No such device (errno 19)", e.getMessage());
  }

  @Test
  void textsOfErrorsEventsAndCompletions() {
    assertEquals("Cannot allocate memory", Verbs.errorText(12));
    assertEquals("Cannot allocate memory", Verbs.errorText(-12));
    assertEquals("Work Request Flushed Error", Verbs.completionText(Layouts.WC_FLUSHED));
    assertEquals(
        "unreachable: Connection timed out (errno 110)",
        Verbs.describe(Layouts.CM_UNREACHABLE, -110));
  }

  @Test
  void theAddressOfABufferIsThatOfItsFirstByte() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(64);
    long address = Verbs.addressOf(buffer);
    assertNotEquals(0, address);
    buffer.position(10);
    assertEquals(address, Verbs.addressOf(buffer));
    assertEquals(address + 10, Verbs.addressOf(buffer.slice()));
    assertEquals(0, Verbs.addressOf(ByteBuffer.allocate(64)));
    assertEquals(0, Verbs.addressOf(null));
  }

  @Test
  void aWaitEndsOnRequest() throws Exception {
    int wakeup = Verbs.createWakeup();
    try {
      assertEquals(0, Verbs.await(0, 0, wakeup, 0));
      Verbs.wake(wakeup);
      assertEquals(Verbs.READY_WAKEUP, Verbs.await(0, 0, wakeup, 60_000));
      Thread waker = new Thread(() -> Verbs.wake(wakeup));
      waker.start();
      assertEquals(Verbs.READY_WAKEUP, Verbs.await(0, 0, wakeup, 60_000));
      waker.join(60_000);
      assertEquals(EINVAL, Verbs.await(0, 0, wakeup, -1));
    } finally {
      Verbs.destroyWakeup(wakeup);
    }
  }

  @Test
  void aThreadMayBeBoundToOneProcessor() throws VerbsException {
    long[] before = Verbs.affinity();
    int word = 0;
    while (before[word] == 0) {
      word++;
    }
    long[] one = new long[word + 1];
    one[word] = Long.lowestOneBit(before[word]);
    try {
      assertEquals(0, Verbs.setAffinity(one));
      assertArrayEquals(one, Verbs.affinity());
    } finally {
      assertEquals(0, Verbs.setAffinity(before));
    }
    assertEquals(EINVAL, Verbs.setAffinity(new long[2]));
    assertEquals(EINVAL, Verbs.setAffinity(null));
    Verbs.yieldProcessor();
  }
}
