/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class PrintableTest {
  private static final String HOSTILE = "/a\n\r\tb\u001b[2J\u007f\u0085\u2028\u202e\u0000";
  private static final String ESCAPED = "/a\\n\\r\\tb\\u001b[2J\\u007f\\u0085\\u2028\\u202e\\u0000";

  @Test
  void invalidCharactersAreEscaped() {
    assertEquals(ESCAPED, Printable.line(HOSTILE));
    assertEquals(ESCAPED, Printable.line(ESCAPED), "twice is once");
    assertFalse(Printable.isPrintable(HOSTILE));
    String good = "/Stra\u00dfe \\ \ud83d\ude00/\u4e2d";
    assertSame(good, Printable.line(good));
    assertTrue(Printable.isPrintable(good));
  }

  @Test
  void linesStayLines() {
    assertEquals("a\\u001b\nb\\r\n", Printable.lines("a\u001b\nb\r\n"));
  }

  @Test
  void aMessageIsOneLineAndItsDetailIsWhatItWas() {
    CrailException failure = ErrorCode.NODE_NOT_FOUND.exception(HOSTILE);
    assertEquals("no such node: " + ESCAPED, failure.getMessage());
    assertEquals(HOSTILE, failure.detail());
    assertEquals("no such node: " + ESCAPED, failure.rethrown().getMessage());
  }

  @Test
  void addressesAreWrittenAsUsersDo() throws Exception {
    InetAddress loopback = InetAddress.getByAddress("localhost", new byte[] {127, 0, 0, 1});
    assertEquals("localhost:9 (127.0.0.1)", Addresses.text(new InetSocketAddress(loopback, 9)));
    assertEquals("127.0.0.1:9", Addresses.text(new InetSocketAddress("127.0.0.1", 9)));
    assertEquals("node1:9", Addresses.text(InetSocketAddress.createUnresolved("node1", 9)));
    assertEquals("[::1]:9", Addresses.text(InetSocketAddress.createUnresolved("::1", 9)));
  }
}
