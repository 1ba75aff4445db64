/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.nvmf.QueueId;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectDataTest {
  private static final String ZEROS = "00".repeat(22);

  private static ByteBuffer bytes(String hex) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
  }

  @Test
  void aRequestDescribesTheQueueAndItsSizes() {
    assertEquals(
        bytes("0000" + "0000" + "2000" + "1f00" + "0000" + ZEROS),
        ConnectData.request(QueueId.ADMIN, 32));
    assertEquals(
        bytes("0000" + "0100" + "8100" + "8000" + "3412" + ZEROS),
        ConnectData.request(new QueueId(0x1234, 1), 0x81));
  }

  @ParameterizedTest
  @CsvSource({"00002000, 32", "0000ffff0000, 65535", "00000000, 0", "01002000, 0", "0000, 0"})
  void anAcceptanceHasTheNumberOfReceives(String hex, int receives) {
    assertEquals(receives, ConnectData.receives(bytes(hex)));
    // Also behind other bytes.
    assertEquals(receives, ConnectData.receives(bytes("ffff" + hex).position(2)));
  }

  @ParameterizedTest
  @CsvSource({
    "00000400, wrong size of its send queue",
    "00000500, wrong size of its receive queue",
    "00000600, no resources",
    "00000900, no such controller",
    "00000a00, reason 10",
    "0000ffff, reason 65535"
  })
  void describesARefusalInWords(String hex, String words) {
    assertEquals(
        "the target refuses the connection: " + words, ConnectData.refusal(bytes(hex), "other"));
  }

  @ParameterizedTest
  @CsvSource({"00000000", "01000400", "00"})
  void onlyRefusalsOfTargetsAreUnderstood(String hex) {
    assertEquals("other", ConnectData.refusal(bytes(hex), "other"));
    assertEquals("other", ConnectData.refusal(null, "other"));
  }
}
