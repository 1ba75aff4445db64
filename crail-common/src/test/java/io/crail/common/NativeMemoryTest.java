/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeMemoryTest {
  private static final int BYTES = 1 << 20;

  /** Ten times what this JVM may have, without any pressure on its collector. */
  @Test
  void allocatedMemoryGoesBackAtOnce() {
    long rounds = 10 * Runtime.getRuntime().maxMemory() / (64 * BYTES) + 1;
    for (long i = 0; i < rounds; i++) {
      NativeMemory memory = NativeMemory.allocate(64 * BYTES);
      assertEquals(0, memory.buffer().get(BYTES));
      memory.free();
      memory.free();
    }
  }

  @Test
  void mappedMemoryGoesBackAtOnce(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("mapped");
    Files.write(file, new byte[BYTES]);
    NativeMemory memory;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      memory = NativeMemory.map(channel, BYTES);
    }
    memory.buffer().put(BYTES - 1, (byte) 7);
    assertEquals(7, Files.readAllBytes(file)[BYTES - 1]);
    assertTrue(isMapped(file));
    memory.free();
    assertFalse(isMapped(file));
  }

  private static boolean isMapped(Path file) throws Exception {
    return Files.readString(Path.of("/proc/self/maps")).contains(file.toString());
  }

  @Test
  void aViewKeepsItsMemory() {
    ByteBuffer view = view();
    for (int i = 0; i < 3; i++) {
      System.gc();
      assertEquals(5, view.get(0));
    }
  }

  /** Java collects garbage before it refuses memory, so dropped memory has to go back with it. */
  @Test
  void droppedMemoryGoesBackWithTheCollector() {
    long rounds = 3 * Runtime.getRuntime().maxMemory() / (64 * BYTES) + 1;
    for (long i = 0; i < rounds; i++) {
      assertEquals(0, NativeMemory.allocate(64 * BYTES).buffer().get(0));
    }
  }

  private static ByteBuffer view() {
    ByteBuffer buffer = NativeMemory.allocate(BYTES).buffer();
    buffer.put(100, (byte) 5);
    return buffer.slice(100, 10).duplicate();
  }
}
