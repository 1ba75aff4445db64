/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Texts that are made without the native library. */
class TextsTest {
  @Test
  void eventsAndReasons() {
    assertEquals("established", Verbs.describe(Layouts.CM_ESTABLISHED, 0));
    assertEquals(
        "rejected: no program listens there",
        Verbs.describe(Layouts.CM_REJECTED, Layouts.REJECTED_NO_LISTENER));
    assertEquals(
        "rejected: refused by the peer",
        Verbs.describe(Layouts.CM_REJECTED, Layouts.REJECTED_BY_PEER));
    assertEquals("rejected: reason 5", Verbs.describe(Layouts.CM_REJECTED, 5));
    assertEquals("time-wait ended", Verbs.describe(Layouts.CM_TIMEWAIT_EXIT, 0));
    assertEquals("event 99: status 5", Verbs.describe(99, 5));
  }

  @Test
  void gidsThatAreNotEmpty() {
    byte[] table = new byte[48];
    table[0] = (byte) 0xfe;
    table[1] = (byte) 0x80;
    table[15] = 1;
    System.arraycopy(new byte[] {-1, -1, 10, 9, 0, 2}, 0, table, 42, 6);
    assertEquals(
        List.of(new Device.Gid(0, "fe80:0:0:0:0:0:0:1"), new Device.Gid(2, "::ffff:10.9.0.2")),
        DeviceReader.gids(table));
  }
}
