/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import io.crail.common.ProcessUser;
import io.crail.storage.region.FreeSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The directory for the data of an embedded cluster, and the space that the cluster may use in it.
 *
 * @param directory the directory for region files
 * @param bytes how many bytes may be used there
 */
record StoragePlace(Path directory, long bytes) {
  private static final String NAME = "crail-embedded-" + ProcessUser.idText();
  private static final long MOST = 8L << 30;

  /** Free memory from which on the data are always kept in memory: enough for a first try. */
  private static final long ENOUGH = 5L << 30;

  private static final Path MEMORY = Path.of("/dev/shm");

  /**
   * Chooses between memory and disk: memory, unless memory is short and the disk has more room.
   *
   * @param wanted the directory when one was configured, or null
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

  /** Removes a directory that {@link #choose} made, unless it is in use. */
  static void remove(Path directory) {
    try {
      Files.deleteIfExists(directory);
    } catch (IOException e) {
      // Another cluster uses it; the last cluster removes it.
    }
  }

  private static long usable(Path directory) throws IOException {
    return Math.min(MOST, FreeSpace.bytes(directory) / 4 * 3);
  }
}
