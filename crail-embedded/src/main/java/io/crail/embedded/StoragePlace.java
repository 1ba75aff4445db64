/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import io.crail.storage.region.FreeSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where an embedded cluster keeps its data, and how much of it.
 *
 * @param directory the directory for region files
 * @param bytes how much may be used there
 */
record StoragePlace(Path directory, long bytes) {
  private static final String NAME = "crail-embedded-" + System.getProperty("user.name");
  private static final long MOST = 8L << 30;

  /** In memory when it has this much to spare: enough for what people try first. */
  private static final long ENOUGH = 5L << 30;

  private static final Path MEMORY = Path.of("/dev/shm");

  /**
   * Chooses between memory and disk: memory, unless it is short and the disk has more.
   *
   * @param wanted the directory when somebody has chosen already, or null
   */
  static StoragePlace choose(Path wanted) throws IOException {
    if (wanted != null) {
      Files.createDirectories(wanted);
      return new StoragePlace(wanted, usable(wanted));
    }
    Path disk = Path.of(System.getProperty("java.io.tmpdir"));
    long onDisk = usable(disk);
    long inMemory = Files.isWritable(MEMORY) ? usable(MEMORY) : 0;
    return inMemory >= Math.min(ENOUGH, onDisk)
        ? new StoragePlace(MEMORY.resolve(NAME), inMemory)
        : new StoragePlace(disk.resolve(NAME), onDisk);
  }

  /** Removes a directory that was chosen, unless it is in use. */
  static void remove(Path directory) {
    try {
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      // Another cluster lives in it; the last one removes it.
    }
  }

  private static long usable(Path directory) throws IOException {
    return Math.min(MOST, FreeSpace.bytes(directory) / 4 * 3);
  }
}
