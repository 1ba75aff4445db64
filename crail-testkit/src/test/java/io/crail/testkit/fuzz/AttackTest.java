/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.rpc.Frame;
import io.crail.storage.tcp.DataNodeOperations;
import io.crail.storage.tcp.WriteData;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AttackTest {
  private static final int GENERATION =
      Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.offset("generation");

  private static byte[] write(long generation) {
    byte[] frame = new byte[Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.fixedLength() + 8];
    ByteBuffer buffer = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(buffer, 0, frame.length, DataNodeOperations.WRITE.number(), Frame.KIND_REQUEST, 1);
    buffer.putLong(GENERATION, generation);
    return frame;
  }

  private static List<byte[]> fair(byte[]... frames) {
    List<byte[]> recorded = List.of(write(5));
    return new Attack(new Random(1), List.of(), List.of(recorded), 0)
        .fair(DataNodeOperations.all(), List.of(frames));
  }

  @Test
  void aWriteBeyondTheRecordedGenerationsIsLeftOut() {
    assertEquals(1, fair(write(5)).size());
    assertEquals(0, fair(write(6)).size());
  }

  @Test
  void aCutWriteTakesItsGenerationFromTheNextFrame() {
    byte[] cut = Arrays.copyOf(write(5), GENERATION);
    byte[] six = new byte[16];
    six[0] = 6;
    byte[] four = new byte[16];
    four[0] = 4;
    assertEquals(List.of(cut), fair(cut, six));
    assertEquals(List.of(cut, four), fair(cut, six, four));
  }
}
