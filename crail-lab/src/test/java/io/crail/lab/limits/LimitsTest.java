/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LimitsTest {
  @ParameterizedTest
  @CsvSource({
    "BLOCKING, 1, 48, 112",
    "BLOCKING, 128, 48, 112",
    "SELECTOR, 1, 112, 48",
    "SELECTOR, 128, 48, 112",
    "SELECTOR, 1000, 100, 100",
    "SPIN, 16, 1, 300"
  })
  void everyRequestIsAnswered(WaitMode mode, int depth, int request, int response)
      throws Exception {
    LoopbackEcho echo = new LoopbackEcho(mode, request, response);
    try (ServerSocketChannel listener = LoopbackEcho.listen()) {
      CompletableFuture<Void> server =
          CompletableFuture.runAsync(
              () -> {
                try {
                  echo.serveOne(listener);
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      LoopbackEcho.Result result = echo.measure(LoopbackEcho.portOf(listener), depth, 100, 2000);
      assertTrue(result.perSecond() > 0);
      assertTrue(result.p50Micros() > 0);
      assertTrue(result.p99Micros() >= result.p50Micros());
      server.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void messagesHaveAByteAtLeast() {
    assertThrows(IllegalArgumentException.class, () -> new LoopbackEcho(WaitMode.BLOCKING, 0, 1));
    assertThrows(
        IllegalArgumentException.class, () -> new LoopbackEcho(WaitMode.BLOCKING, 1, 40_000));
  }

  @Test
  void everyByteIsCopied() {
    ByteBuffer region = ByteBuffer.allocateDirect(64);
    ByteBuffer piece = ByteBuffer.allocateDirect(16);
    for (int i = 0; i < 16; i++) {
      piece.put(i, (byte) (i + 1));
    }
    MemoryCopy copy = new MemoryCopy(region, piece);
    for (MemoryCopy.Way into : List.of(MemoryCopy.Way.PLAIN, MemoryCopy.Way.FETCHED)) {
      region.put(0, new byte[64]);
      assertTrue(copy.bytesPerSecond(into, 1) > 0);
      for (int i = 0; i < 64; i++) {
        assertEquals(i % 16 + 1, region.get(i));
      }
    }
    region.put(63, (byte) 99);
    copy.bytesPerSecond(MemoryCopy.Way.OUT, 1);
    assertEquals(99, piece.get(15));
    piece.put(0, (byte) 0);
    assertTrue(copy.randomNanos(1) > 0);
    assertEquals(1, piece.get(0));
    assertThrows(
        IllegalArgumentException.class, () -> new MemoryCopy(region, ByteBuffer.allocate(24)));
  }

  /** More than a page, and not a multiple of a page. */
  @Test
  void linesAreFetchedOfAllPagesThatAreCopied() {
    int length = 5_000;
    ByteBuffer region = ByteBuffer.allocateDirect(2 * length);
    ByteBuffer piece = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      piece.put(i, (byte) (i % 101 + 1));
    }
    new MemoryCopy(region, piece).bytesPerSecond(MemoryCopy.Way.FETCHED, 1);
    for (int i = 0; i < 2 * length; i++) {
      assertEquals(i % length % 101 + 1, region.get(i), "at " + i);
    }
  }

  @Test
  void buffersAreUsedInTurns() {
    ByteBuffer region = ByteBuffer.allocateDirect(64);
    ByteBuffer one = ByteBuffer.allocateDirect(16).put(0, (byte) 1);
    ByteBuffer two = ByteBuffer.allocateDirect(16).put(0, (byte) 2);
    MemoryCopy copy = new MemoryCopy(region, one, two);
    copy.bytesPerSecond(MemoryCopy.Way.PLAIN, 1);
    for (int piece = 0; piece < 4; piece++) {
      assertEquals(piece % 2 + 1, region.get(piece * 16));
    }
    region.put(32, (byte) 3).put(48, (byte) 4);
    copy.bytesPerSecond(MemoryCopy.Way.OUT, 1);
    assertEquals(3, one.get(0));
    assertEquals(4, two.get(0));
  }

  @ParameterizedTest
  @CsvSource({"16, 64", "64, 16", "48, 32"})
  void everyByteOfAStreamArrivesWhereItBelongs(int fromLength, int toLength) throws Exception {
    ByteBuffer from = ByteBuffer.allocateDirect(fromLength);
    for (int i = 0; i < fromLength; i++) {
      from.put(i, (byte) (i + 1));
    }
    ByteBuffer to = ByteBuffer.allocateDirect(toLength);
    LoopbackStream stream = new LoopbackStream(from, to, 16);
    // Rounds end in the middle of a piece. All of them are one stream.
    int total = 3 * 500;
    assertTrue(stream.bytesPerSecond(500, 1, 2) > 0);
    to.clear();
    for (int at = 0; at < toLength; at++) {
      int last = (total - 1 - at) / toLength * toLength + at;
      assertEquals((byte) (last % fromLength + 1), to.get(at), "byte " + at);
    }
  }

  @Test
  void aStreamHasWholePieces() {
    ByteBuffer whole = ByteBuffer.allocate(32);
    ByteBuffer part = ByteBuffer.allocate(24);
    assertThrows(IllegalArgumentException.class, () -> new LoopbackStream(whole, part, 16));
    assertThrows(IllegalArgumentException.class, () -> new LoopbackStream(part, whole, 16));
  }

  @Test
  void aFailedReceiveEndsTheStream() {
    ByteBuffer from = ByteBuffer.allocate(16);
    ByteBuffer to = ByteBuffer.allocate(16).asReadOnlyBuffer();
    assertThrows(
        IllegalArgumentException.class,
        () -> new LoopbackStream(from, to, 16).bytesPerSecond(64, 0, 1));
  }

  @Test
  void memoryOfAFileStaysAndThatOfADirectoryGoes(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("region");
    MappedMemory.map(file, 4096).put(100, (byte) 7);
    ByteBuffer longer = MappedMemory.map(file, 3 * 4096);
    assertEquals(3 * 4096, longer.capacity());
    assertEquals(7, longer.get(100), "to touch changes nothing");
    Files.delete(file);
    assertEquals(4096, MappedMemory.map(directory, 4096).capacity());
    try (Stream<Path> left = Files.list(directory)) {
      assertEquals(0, left.count());
    }
  }
}
