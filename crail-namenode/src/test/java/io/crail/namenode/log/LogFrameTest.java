/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the bytes of a frame stay as they are, as long as the format has the same number. */
@Tag("once")
class LogFrameTest {
  private static final String BYTES =
      "4346524d"
          + "e1d21183"
          + "0200000001000000"
          + "0300000000000000"
          + "0500000000000000"
          + "0400000000000000"
          + "0600000000000000"
          + "0700000000000000"
          + "0809";

  @Test
  void bytesArePermanent() {
    ByteBuffer frame = ByteBuffer.allocate(LogFrame.PAGE);
    frame.put(LogFrame.HEADER, new byte[] {8, 9});
    LogFrame.Header header = new LogFrame.Header(2, 1, 3, 5, 4, 6, 7);
    LogFrame.seal(frame, header);
    String bytes = HexFormat.of().formatHex(frame.array(), 0, LogFrame.HEADER + 2);
    assertEquals(BYTES, bytes);
    assertTrue(LogFrame.isWhole(frame, header));
    assertEquals(LogFrame.PAGE, header.padded());
  }
}
