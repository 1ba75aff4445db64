/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The errors for bytes that are no frame. */
class FrameTest {
  @Test
  void aPeerThatSpeaksHttpIsTakenForWhatItIs() {
    byte[] answer = "HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.US_ASCII);
    ByteBuffer bytes = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN);
    CrailException refused =
        assertThrows(
            CrailException.class,
            () -> Frame.check(bytes, 0, answer.length, Frame.KIND_RESPONSE, Frame.MAX_LENGTH));
    assertEquals(ErrorCode.PROTOCOL, refused.code());
    assertTrue(refused.getMessage().contains("speaks HTTP"), refused.getMessage());
    assertTrue(refused.getMessage().contains("crail.metrics.address"), refused.getMessage());
  }
}
