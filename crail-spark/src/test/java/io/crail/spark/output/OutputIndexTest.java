/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static io.crail.spark.output.OutputIndex.CHUNK_BYTES;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class OutputIndexTest {
  private static final OutputId ID = new OutputId(7, 1L << 40);

  /** Two runs of three partitions. */
  private static OutputIndex index() {
    return new OutputIndex(
        ID, 3, new long[] {10, 10, 25, 30, 37, 37}, new int[] {1, 0, -3, 4, 5, 0}, new int[0]);
  }

  private static OutputIndex decode(byte[] bytes, long fileBytes) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    int length = OutputIndex.bytes(in, fileBytes);
    return OutputIndex.decode(in.position(bytes.length - length).slice(), fileBytes, ID);
  }

  @Test
  void findsAPartitionInEachRun() throws IOException {
    byte[] bytes = index().encode();
    OutputIndex index = decode(bytes, 37 + bytes.length);
    assertEquals(3, index.partitions());
    assertEquals(2, index.runs());
    assertEquals(0, index.start(0, 0));
    assertEquals(10, index.end(0, 0));
    assertEquals(25, index.start(1, 0));
    assertEquals(30, index.end(1, 0));
    assertEquals(-3, index.checksum(0, 2, 0));
    assertEquals(15, index.length(0, 1));
    assertEquals(22, index.length(1, 3));
    assertArrayEquals(new long[] {15, 7, 15}, index.lengths());
  }

  @Test
  void anOutputMayHaveNoRunAndNoByte() throws IOException {
    byte[] bytes = new OutputIndex(ID, 3, new long[0], new int[0], new int[0]).encode();
    OutputIndex index = decode(bytes, bytes.length);
    assertEquals(0, index.runs());
    assertArrayEquals(new long[3], index.lengths());
  }

  @Test
  void eachChunkOfALargePartitionHasAChecksum() throws IOException {
    // A partition of three chunks, and one of a whole chunk in another run.
    long large = 5 + 2L * CHUNK_BYTES + 7;
    long end = large + CHUNK_BYTES;
    long[] ends = {5, large, large, end};
    byte[] bytes = new OutputIndex(ID, 2, ends, new int[] {1, 2, 0, 4}, new int[] {5, 6}).encode();
    OutputIndex index = decode(bytes, end + bytes.length);
    assertEquals(1, index.chunks(0, 0));
    assertEquals(3, index.chunks(0, 1));
    assertEquals(0, index.chunks(1, 0));
    assertEquals(1, index.chunks(1, 1));
    assertEquals(5 + CHUNK_BYTES, index.chunkEnd(0, 1, 0));
    assertEquals(5 + 2 * CHUNK_BYTES, index.chunkEnd(0, 1, 1));
    assertEquals(large, index.chunkEnd(0, 1, 2));
    assertEquals(end, index.chunkEnd(1, 1, 0));
    assertEquals(1, index.checksum(0, 0, 0));
    assertEquals(5, index.checksum(0, 1, 0));
    assertEquals(6, index.checksum(0, 1, 1));
    assertEquals(2, index.checksum(0, 1, 2));
    assertEquals(4, index.checksum(1, 1, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new OutputIndex(ID, 2, ends, new int[4], new int[] {5, 6, 7}));
  }

  @Test
  void theLayoutStaysAsItIs() {
    assertEquals(
        "000000000000000a00000001"
            + "000000000000000a00000000"
            + "0000000000000019fffffffd"
            + "000000000000001e00000004"
            + "000000000000002500000005"
            + "000000000000002500000000"
            + "0000010000000000"
            + "00000007"
            + "00000003"
            + "00000002"
            + "00000000"
            + "00000002",
        HexFormat.of().formatHex(index().encode(), 0, 6 * 12 + 28));
  }

  @Test
  void everyWrongBitIsFound() throws IOException {
    byte[] bytes = index().encode();
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      byte[] file = new byte[37 + bytes.length];
      System.arraycopy(bytes, 0, file, 37, bytes.length);
      file[37 + bit / 8] ^= (byte) (1 << bit % 8);
      assertThrows(CorruptOutputException.class, () -> decode(file, file.length), "bit " + bit);
    }
  }

  @Test
  void everyOtherLengthOfTheFileIsFound() {
    byte[] bytes = index().encode();
    for (long length : new long[] {0, bytes.length, 36L + bytes.length, 38L + bytes.length}) {
      assertThrows(CorruptOutputException.class, () -> decode(bytes, length), "length " + length);
    }
    // Files that have lost bytes, of the partitions or of the index.
    byte[] file = new byte[37 + bytes.length];
    System.arraycopy(bytes, 0, file, 37, bytes.length);
    for (int from = 1; from <= file.length; from++) {
      byte[] part = Arrays.copyOfRange(file, from, file.length);
      assertThrows(CorruptOutputException.class, () -> decode(part, part.length), "from " + from);
    }
    for (int from = 1; from <= bytes.length; from++) {
      byte[] part = new byte[file.length - from];
      System.arraycopy(bytes, from, part, 37, bytes.length - from);
      assertThrows(CorruptOutputException.class, () -> decode(part, part.length), "but " + from);
    }
  }

  @Test
  void theIndexOfAnotherOutputIsRefused() {
    byte[] bytes = index().encode();
    for (OutputId other : new OutputId[] {new OutputId(8, ID.map()), new OutputId(7, 3)}) {
      assertThrows(
          CorruptOutputException.class,
          () -> OutputIndex.decode(ByteBuffer.wrap(bytes), 37 + bytes.length, other));
    }
  }
}
