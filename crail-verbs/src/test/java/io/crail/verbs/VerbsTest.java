/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What needs the native library but no device. */
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
  void aWaitEndsWhenItIsToldTo() throws Exception {
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
