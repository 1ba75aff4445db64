/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A directory of a mount of huge pages. Its files can be mapped but not written, in whole pages; so
 * they hold the bytes of regions and nothing else.
 *
 * @param path the directory
 * @param pageLength bytes of a page
 */
public record HugePages(Path path, int pageLength) {
  /** Holds the path, in the directory of a datanode that uses huge pages. */
  static final String FILE = "pages";

  private static final int LARGEST = 1 << 30;

  /**
   * The huge pages of a directory; empty when it is another kind of directory, or does not exist.
   *
   * @throws IOException when the directory cannot be examined, or its pages are larger than a
   *     region
   */
  public static Optional<HugePages> of(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return Optional.empty();
    }
    FileStore store;
    try {
      store = Files.getFileStore(directory);
    } catch (IOException e) {
      // A changed root hides its mount points. A mount of huge pages is not among them.
      return Optional.empty();
    }
    if (!store.type().equals("hugetlbfs")) {
      return Optional.empty();
    }
    long length = store.getBlockSize();
    if (length > LARGEST) {
      throw new IOException(directory + " has pages of " + length + " bytes, more than a region");
    }
    return Optional.of(new HugePages(directory.toAbsolutePath().normalize(), (int) length));
  }

  /**
   * Makes the file for the bytes of a region.
   *
   * @param directory the datanode's directory, which {@link #note} has noted this one in
   */
  FileChannel create(Path directory, int index) throws IOException {
    try (SafeDirectory pages = SafeDirectory.shared(path)) {
      return pages.create(fileName(directory, index));
    }
  }

  /** Notes in a datanode's directory that the bytes of its regions are here. */
  void note(SafeDirectory directory) throws IOException {
    directory.write(FILE, path.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Where the bytes of a datanode's regions are; null when they are in its directory. */
  static Path placeOf(SafeDirectory directory) throws IOException {
    return directory.contains(FILE) ? Path.of(directory.read(FILE)) : null;
  }

  /** The name of a region's file. No other datanode's file names begin like this. */
  static String fileName(Path directory, int index) {
    return "crail-" + directory.getFileName() + "-" + RegionFile.dataFile(index);
  }

  @Override
  public String toString() {
    return path + " (huge pages of " + pageLength + " bytes, see /proc/meminfo)";
  }
}
