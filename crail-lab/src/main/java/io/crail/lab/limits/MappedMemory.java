/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.limits;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Mapped memory, as a datanode lends it. Stateless. */
final class MappedMemory {
  private static final int PAGE = 4096;

  private MappedMemory() {}

  /**
   * Maps {@code length} bytes and touches each page.
   *
   * @param place a directory, in which no file stays; or a file, which stays, so that the system
   *     need not find memory again for the next program
   */
  static ByteBuffer map(Path place, int length) throws IOException {
    if (!Files.isDirectory(place)) {
      return mapFile(place, length);
    }
    Path file = Files.createTempFile(place, "crail-limit", ".tmp");
    try {
      return mapFile(file, length);
    } finally {
      Files.delete(file);
    }
  }

  private static ByteBuffer mapFile(Path file, int length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer region = channel.map(FileChannel.MapMode.READ_WRITE, 0, length);
      for (int at = 0; at < length; at += PAGE) {
        region.put(at, region.get(at));
      }
      return region;
    }
  }
}
