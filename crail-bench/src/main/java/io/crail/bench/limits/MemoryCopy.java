/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.limits;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/**
 * Copies between one buffer and a mapped file, piece by piece, from its begin to its end: the least
 * that a client on the datanode's host must do. All memory is touched before.
 *
 * <pre>
 * MemoryCopy directory regionBytes pieceBytes rounds
 * </pre>
 *
 * Prints {@code read <MB/s> write <MB/s>}: out of the region and into it.
 */
public final class MemoryCopy {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MEGA = 1e6;

  private final ByteBuffer region;
  private final ByteBuffer piece;

  /** Creates a copier; {@code region} has a multiple of the bytes of {@code piece}. */
  MemoryCopy(ByteBuffer region, ByteBuffer piece) {
    if (region.capacity() % piece.capacity() != 0) {
      throw new IllegalArgumentException("the region must hold whole pieces");
    }
    this.region = region;
    this.piece = piece;
  }

  /** Measures, as the class comment says. */
  public static void main(String[] args) throws IOException {
    int regionLength = Integer.parseInt(args[1]);
    int pieceLength = Integer.parseInt(args[2]);
    int rounds = Integer.parseInt(args[3]);
    Path file = Files.createTempFile(Path.of(args[0]), "crail-copy", ".tmp");
    MemoryCopy copy;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      copy =
          new MemoryCopy(
              channel.map(FileChannel.MapMode.READ_WRITE, 0, regionLength),
              ByteBuffer.allocateDirect(pieceLength));
    } finally {
      Files.delete(file);
    }
    // Touches the memory and lets the loops be compiled.
    copy.bytesPerSecond(true, 1);
    copy.bytesPerSecond(false, 1);
    double write = copy.bytesPerSecond(true, rounds);
    double read = copy.bytesPerSecond(false, rounds);
    System.out.println(
        String.format(Locale.ROOT, "read %.0f write %.0f", read / MEGA, write / MEGA));
  }

  /** Copies the whole region some times; gives bytes a second. */
  double bytesPerSecond(boolean intoRegion, int rounds) {
    long begin = System.nanoTime();
    for (int round = 0; round < rounds; round++) {
      for (int at = 0; at < region.capacity(); at += piece.capacity()) {
        if (intoRegion) {
          region.put(at, piece, 0, piece.capacity());
        } else {
          piece.put(0, region, at, piece.capacity());
        }
      }
    }
    long nanos = Math.max(1, System.nanoTime() - begin);
    return (double) region.capacity() * rounds * NANOS_PER_SECOND / nanos;
  }
}
