/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.SmallValue;
import io.crail.storage.network.DataHello;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The bytes of the data protocol are permanent. */
class DataNodeOperationsTest {
  private static final SmallValue LETTERS = SmallValue.of(new byte[] {'a', 'b'});
  private static final UUID ID = new UUID(0x1122334455667788L, 0x99aabbccddeeff00L);

  @Test
  void numbersArePermanent() {
    assertEquals(1, DataNodeOperations.HELLO.number());
    assertEquals(2, DataNodeOperations.READ.number());
    assertEquals(3, DataNodeOperations.WRITE.number());
    assertEquals(4, DataNodeOperations.PING.number());
    assertEquals(5, DataNodeOperations.LOGIN.number());
    assertEquals(5, DataNodeOperations.all().size());
  }

  @Test
  void messagesHaveTheirGoldenBytes() throws Exception {
    check(
        DataHello.Request.CODEC,
        new DataHello.Request(DataHello.MAGIC, 2, 1, ID, 3, LETTERS),
        0,
        "4352444e"
            + "02010200"
            + "8877665544332211"
            + "00ffeeddccbbaa99"
            + "0300000000000000"
            + "6162");
    check(
        DataHello.Response.CODEC,
        new DataHello.Response(DataHello.MAGIC, 2, true, 26, LETTERS),
        0,
        "4352444e" + "02010200" + "1a000000" + "6162");
    check(Login.Request.CODEC, new Login.Request(LETTERS), 0, "0200" + "6162");
    check(
        ReadData.Request.CODEC,
        new ReadData.Request(3, 4096, 1L << 33, -2),
        0,
        "03000000" + "00100000" + "0000000002000000" + "feffffffffffffff");
    check(ReadData.Response.CODEC, new ReadData.Response(5, true), 5, "05000000" + "01000000");
    check(
        WriteData.Request.CODEC,
        new WriteData.Request(3, 7, 4096, 9),
        7,
        "03000000" + "07000000" + "0010000000000000" + "0900000000000000");
    check(WriteData.Response.CODEC, new WriteData.Response(), 0, "");
    check(Ping.Request.CODEC, new Ping.Request(258), 0, "0201000000000000");
  }

  private static <T> void check(Codec<T> codec, T message, int dataLength, String golden)
      throws Exception {
    int fixed = codec.length(message);
    int length = fixed + dataLength;
    ByteBuffer bytes = ByteBuffer.allocate(length + 1).order(ByteOrder.LITTLE_ENDIAN);
    codec.encode(message, bytes, 0);
    assertEquals(golden, HexFormat.of().formatHex(bytes.array(), 0, fixed));
    assertEquals(message, codec.decode(bytes, 0, length));
    for (int wrong = 0; wrong <= length + 1; wrong++) {
      int tried = wrong;
      if (wrong != length) {
        CrailException refused =
            assertThrows(CrailException.class, () -> codec.decode(bytes, 0, tried));
        assertEquals(ErrorCode.PROTOCOL, refused.code());
      }
    }
  }
}
