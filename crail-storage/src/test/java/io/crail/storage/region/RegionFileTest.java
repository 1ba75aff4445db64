/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegionFileTest {
  private static final int UNIT = 4096;
  private static final int LENGTH = 4 * UNIT;

  @TempDir Path directory;

  private Path emptyFile() throws IOException {
    return Files.write(directory.resolve("region-0"), new byte[LENGTH]);
  }

  private static RegionFile open(Path path, ByteBuffer grown) {
    return new RegionFile(path, () -> FileChannel.open(path, StandardOpenOption.WRITE), grown);
  }

  private static ByteBuffer bytes(int length) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      bytes.put(i, (byte) (i + 1));
    }
    return bytes;
  }

  @Test
  void writtenBytesAreThereAndTheFileHasGrown() throws IOException {
    Path path = emptyFile();
    ByteBuffer source = bytes(UNIT + 30);
    try (RegionFile file = open(path, ByteBuffer.allocate(LENGTH / UNIT))) {
      assertFalse(file.isGrown(0, 1));
      assertEquals(ErrorCode.OK, file.write(UNIT - 10, source, 10, UNIT + 11));
      assertEquals(0, source.position());
      assertTrue(file.isGrown(0, 3 * UNIT));
      assertFalse(file.isGrown(0, 3 * UNIT + 1));
      assertFalse(file.isGrown(3 * UNIT, 1));
    }
    byte[] expected = new byte[LENGTH];
    source.get(10, expected, UNIT - 10, UNIT + 11);
    assertArrayEquals(expected, Files.readAllBytes(path));
  }

  @Test
  void anInterruptLosesNoWriteAndIsKept() throws IOException {
    Path path = emptyFile();
    try (RegionFile file = open(path, ByteBuffer.allocate(LENGTH / UNIT))) {
      for (int unit = 0; unit < 3; unit++) {
        // The second one finds a channel that the first one has closed.
        Thread.currentThread().interrupt();
        assertEquals(ErrorCode.OK, file.write(unit * UNIT, bytes(UNIT), 0, UNIT));
        assertTrue(Thread.interrupted());
      }
    }
    ByteBuffer expected = ByteBuffer.allocate(LENGTH);
    for (int unit = 0; unit < 3; unit++) {
      expected.put(bytes(UNIT));
    }
    assertArrayEquals(expected.array(), Files.readAllBytes(path));
  }

  @Test
  void aFullFileSystemIsAnError() {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "there is no /dev/full");
    try (RegionFile file = open(full, ByteBuffer.allocate(LENGTH / UNIT))) {
      assertEquals(ErrorCode.NO_SPACE, file.write(0, bytes(UNIT), 0, UNIT));
      assertFalse(file.isGrown(0, 1));
    }
  }

  @Test
  void aFileThatIsGoneOrClosedIsUnavailable() throws IOException {
    RegionFile gone = open(directory.resolve("none"), ByteBuffer.allocate(LENGTH / UNIT));
    assertEquals(ErrorCode.UNAVAILABLE, gone.write(0, bytes(1), 0, 1));
    gone.close();
    RegionFile closed = open(emptyFile(), ByteBuffer.allocate(LENGTH / UNIT));
    assertEquals(ErrorCode.OK, closed.write(0, bytes(1), 0, 1));
    closed.close();
    assertEquals(ErrorCode.UNAVAILABLE, closed.write(UNIT, bytes(1), 0, 1));
  }

  @Test
  void allOfItGrows() throws IOException {
    Path path = Files.createFile(directory.resolve("region-0"));
    int[] pauses = {0};
    try (RegionFile file = open(path, ByteBuffer.allocate(LENGTH / UNIT))) {
      file.growAll(() -> pauses[0]++);
      assertTrue(file.isGrown(0, LENGTH));
    }
    assertEquals(LENGTH, Files.size(path));
    assertTrue(pauses[0] > 0);
  }
}
