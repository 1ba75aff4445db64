/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UnitsTest {
  private static final long FILE = Units.id(7, 1);
  private static final long OTHER = Units.id(9, 5);
  private static final int LENGTH = 20_000;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);

  private static ByteBuffer bytes(long file, long operation, int length, long offset) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    Units.fill(bytes, file, operation, offset);
    return bytes;
  }

  @Test
  void partsAreTheSameAsTheWhole() {
    ByteBuffer whole = bytes(FILE, FILE, LENGTH, 0);
    for (int i = 0; i < 200; i++) {
      int from = random.nextInt(LENGTH);
      int length = random.nextInt(LENGTH - from);
      assertEquals(whole.slice(from, length), bytes(FILE, FILE, length, from), "seed " + seed);
    }
  }

  @Test
  void eachChangedByteIsFound() {
    for (int i = 0; i < 500; i++) {
      ByteBuffer bytes = bytes(FILE, FILE, 9000, 100);
      int at = random.nextInt(9000);
      bytes.put(at, (byte) (bytes.get(at) + 1 + random.nextInt(255)));
      assertEquals(at, Units.mismatch(bytes, 0, 9000, FILE, FILE, 100), "seed " + seed);
      assertEquals(1, Units.countMismatches(bytes, 0, 9000, FILE, FILE, 100));
    }
  }

  @Test
  void otherFilesOperationsAndOffsetsAreFound() {
    ByteBuffer bytes = bytes(FILE, FILE, 640, 0);
    assertEquals(-1, Units.mismatch(bytes, 0, 640, FILE, FILE, 0));
    assertTrue(Units.mismatch(bytes, 0, 640, OTHER, FILE, 0) >= 0);
    assertTrue(Units.mismatch(bytes, 0, 640, FILE, OTHER, 0) >= 0);
    assertTrue(Units.mismatch(bytes, 0, 640, FILE, FILE, 64) >= 0);
  }

  @Test
  void foreignBytesSayWhoseTheyAre() {
    ByteBuffer bytes = bytes(FILE, FILE, 9000, 0);
    bytes.put(4096, bytes(OTHER, OTHER, 4096, 8192), 0, 4096);
    int at = Units.mismatch(bytes, 0, 9000, FILE, FILE, 0);
    assertTrue(at >= 4096 && at < 4096 + Units.LENGTH, "at " + at);
    String text = Units.describe(bytes, at);
    assertTrue(text.startsWith("file 9.5, operation 9.5 of writer 9, offset 8192"), text);
  }

  @Test
  void aBrokenUnitIsNone() {
    ByteBuffer bytes = bytes(FILE, FILE, Units.LENGTH, 0);
    assertEquals(new Units.Unit(FILE, FILE, 0), Units.at(bytes, 0));
    for (int i = 0; i < Units.LENGTH; i++) {
      ByteBuffer broken = bytes(FILE, FILE, Units.LENGTH, 0);
      broken.put(i, (byte) ~broken.get(i));
      assertNull(Units.at(broken, 0), "byte " + i);
    }
    assertEquals("64 zeros", Units.describe(ByteBuffer.allocate(64), 0));
  }
}
