/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a torn end of Ratis' log is cut, and damage is not. */
class TornLogTest {
  private static final int ENTRIES = 60;
  private static final int ZEROS = 5_000;

  private final Random random = new Random(Long.getLong("crail.seed", System.nanoTime()));
  private final int[] ends = new int[ENTRIES];
  @TempDir private Path directory;
  private Path file;
  private byte[] whole;

  @BeforeEach
  void write() throws IOException {
    Path current = Files.createDirectories(directory.resolve("group").resolve("current"));
    file = current.resolve("log_inprogress_0");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write("RaftLog1".getBytes(StandardCharsets.UTF_8));
    for (int i = 0; i < ENTRIES; i++) {
      out.write(entry(i));
      ends[i] = out.size();
    }
    out.write(new byte[ZEROS]);
    whole = out.toByteArray();
    Files.write(file, whole);
  }

  private byte[] entry(long index) throws IOException {
    byte[] data = new byte[random.nextInt(400)];
    random.nextBytes(data);
    LogEntryProto entry =
        LogEntryProto.newBuilder()
            .setTerm(3)
            .setIndex(index)
            .setStateMachineLogEntry(
                StateMachineLogEntryProto.newBuilder().setLogData(ByteString.copyFrom(data)))
            .build();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.writeUInt32NoTag(entry.getSerializedSize());
    entry.writeTo(out);
    out.flush();
    CRC32C sum = new CRC32C();
    sum.update(bytes.toByteArray());
    bytes.write(ByteBuffer.allocate(Integer.BYTES).putInt(0, (int) sum.getValue()).array());
    return bytes.toByteArray();
  }

  private byte[] cut(byte[] before) throws IOException {
    Files.write(file, before);
    TornLog.cut(directory);
    return Files.readAllBytes(file);
  }

  @Test
  void whatIsWholeStaysAsItIs() throws IOException {
    assertArrayEquals(whole, cut(whole));
    byte[] closed = Arrays.copyOf(whole, whole.length - ZEROS);
    assertArrayEquals(closed, cut(closed));
    byte[] begun = new byte[ZEROS];
    System.arraycopy(whole, 0, begun, 0, 8);
    assertArrayEquals(begun, cut(begun));
    TornLog.cut(directory.resolve("none"));
  }

  @Test
  void aTornEndIsCut() throws IOException {
    int last = ends[ENTRIES - 2];
    for (int at = last + 1; at < ends[ENTRIES - 1]; at++) {
      byte[] torn = whole.clone();
      Arrays.fill(torn, at, torn.length, (byte) 0);
      byte[] left = cut(torn);
      if (!Arrays.equals(torn, whole)) {
        assertArrayEquals(Arrays.copyOf(whole, last), Arrays.copyOf(left, last));
        boolean isAllZero = Arrays.equals(torn, last, at, new byte[at - last], 0, at - last);
        assertEquals(isAllZero ? torn.length : last, left.length, "torn at " + at);
      }
    }
  }

  /** Pages may be written in any order. */
  @Test
  void aBeginningThatIsMissingIsCut() throws IOException {
    int last = ends[ENTRIES - 2];
    byte[] torn = whole.clone();
    Arrays.fill(torn, last, last + 3, (byte) 0);
    assertEquals(last, cut(torn).length);
  }

  /** Entries that are forced together are written in any order. */
  @Test
  void entriesBehindOneThatIsMissingAreCutIfNoneWasDurable() throws IOException {
    int first = ENTRIES - TornLog.MOST_UNFORCED;
    byte[] torn = whole.clone();
    Arrays.fill(torn, ends[first - 1], ends[first], (byte) 0);
    assertEquals(ends[first - 1], cut(torn).length);
  }

  @Test
  void entriesAreRequiredOfWhatWasCopied() throws IOException {
    TornLog.requireEntries(directory, 5);
    Files.delete(file);
    TornLog.requireEntries(directory, 0);
    IOException lost = assertThrows(IOException.class, () -> TornLog.requireEntries(directory, 5));
    assertTrue(lost.getMessage().contains("has lost the entries of 5 records"));
    Path files = Files.createDirectories(directory.resolve("group").resolve("sm"));
    Files.createFile(files.resolve("snapshot.1_7"));
    TornLog.requireEntries(directory, 5);
  }

  @Test
  void damageIsNotCut() throws IOException {
    for (int i = 0; i < 50; i++) {
      int at = 8 + random.nextInt(ends[ENTRIES - 2 - TornLog.MOST_UNFORCED] - 8);
      byte[] damaged = whole.clone();
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      IOException failure = assertThrows(IOException.class, () -> cut(damaged), "byte " + at);
      assertTrue(failure.getMessage().contains("log_inprogress_0 is damaged at byte"));
      assertArrayEquals(damaged, Files.readAllBytes(file));
    }
  }
}
