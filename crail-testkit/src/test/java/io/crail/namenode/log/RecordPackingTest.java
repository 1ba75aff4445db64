/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.codec.SmallValue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that packed records come back as they were, and that others are refused. */
@Tag("once")
class RecordPackingTest {
  private static final int MOST = 3000;

  private record Bytes(SmallValue value) {
    private static final Codec<Bytes> CODEC =
        Codec.of(
            Bytes.class,
            Layout.of("Bytes").u16("length", "bytes").bytes("value", "length", 0, MOST, "any"));
  }

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final RecordPacking writer = new RecordPacking();

  private List<Bytes> frameOf(int count) {
    List<Bytes> records = new ArrayList<>();
    byte[] bytes = new byte[random.nextInt(100)];
    for (int i = 0; i < count; i++) {
      switch (random.nextInt(8)) {
        case 0 -> bytes = new byte[random.nextInt(10) == 0 ? MOST : random.nextInt(20)];
        case 1 -> random.nextBytes(bytes);
        case 2 -> bytes = bytes.clone();
        default -> {
          bytes = bytes.clone();
          for (int at = 0; at < bytes.length; at += 1 + random.nextInt(20)) {
            bytes[at] = (byte) random.nextInt();
          }
        }
      }
      records.add(new Bytes(SmallValue.of(bytes.clone())));
    }
    return records;
  }

  private ByteBuffer packed(List<Bytes> records) {
    int most =
        records.stream().mapToInt(each -> RecordPacking.most(Bytes.CODEC.length(each))).sum();
    ByteBuffer frame = ByteBuffer.allocate(LogFrame.HEADER + most).order(ByteOrder.LITTLE_ENDIAN);
    frame.position(LogFrame.HEADER);
    for (Bytes each : records) {
      writer.append(frame, 7, Bytes.CODEC, each);
    }
    return frame.flip().position(LogFrame.HEADER).slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void packedRecordsComeBack() throws Exception {
    System.out.println("crail.seed=" + seed);
    RecordPacking reader = new RecordPacking();
    for (int i = 0; i < 200; i++) {
      List<Bytes> records = frameOf(1 + random.nextInt(50));
      ByteBuffer frame = packed(records);
      reader.begin();
      int at = 0;
      for (Bytes each : records) {
        int length = frame.getInt(at) & ~RecordPacking.PACKED;
        assertEquals(7, frame.get(at + Integer.BYTES));
        at = reader.unpack(frame, at + LogFrame.OF_RECORD, frame.limit(), length);
        Bytes found = Bytes.CODEC.decode(reader.bytes(), 0, length);
        assertArrayEquals(each.value.bytes(), found.value.bytes(), "seed " + seed);
      }
      assertEquals(frame.limit(), at);
    }
  }

  @Test
  void aRecordLikeTheOneBeforeTakesOneByteForEightOfIt() {
    Bytes record = new Bytes(SmallValue.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
    int one = packed(List.of(record)).limit();
    int length = Bytes.CODEC.length(record);
    assertEquals(
        one + LogFrame.OF_RECORD + (length + 7) / 8, packed(List.of(record, record)).limit());
  }

  @Test
  void bytesThatAreMissingAreNoticed() {
    List<Bytes> records = frameOf(1);
    ByteBuffer frame = packed(records);
    int length = Bytes.CODEC.length(records.get(0));
    for (int end = LogFrame.OF_RECORD; end < frame.limit(); end++) {
      assertEquals(-1, new RecordPacking().unpack(frame, LogFrame.OF_RECORD, end, length));
    }
    assertEquals(-1, new RecordPacking().unpack(frame, 5, frame.limit(), Integer.MAX_VALUE));
    assertTrue(length > 0);
  }
}
