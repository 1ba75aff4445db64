/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file system in a file, whose writes can be held up: whoever writes or forces waits. Needs root.
 */
public final class FrozenDisk implements AutoCloseable {
  private static final long LEAST_BYTES = 16 << 20;

  private final Path image;
  private final Path directory;
  private boolean isFrozen;

  private FrozenDisk(Path image, Path directory) {
    this.image = image;
    this.directory = directory;
  }

  /** Why they are unavailable here; empty when they are available. */
  public static String unavailable() {
    try {
      Path place = Files.createTempDirectory("crail-disk");
      try (FrozenDisk disk = mount(place.resolve("image"), place.resolve("disk"), LEAST_BYTES)) {
        disk.freeze();
        disk.thaw();
      } finally {
        Files.deleteIfExists(place.resolve("disk"));
        Files.delete(place);
      }
      return "";
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  /**
   * Makes and mounts one.
   *
   * @param image the file that has it, which is made
   * @param directory where it is seen, which is made
   * @param bytes how much it holds; the file takes what is written
   */
  public static FrozenDisk mount(Path image, Path directory, long bytes) throws IOException {
    Files.createDirectories(directory);
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(bytes);
    }
    try {
      SystemProgram.run("mkfs.ext4", "-q", "-F", image.toString());
      SystemProgram.run("mount", "-o", "loop", image.toString(), directory.toString());
    } catch (IOException e) {
      Files.delete(image);
      throw e;
    }
    return new FrozenDisk(image, directory);
  }

  /** Holds up all writes. */
  public void freeze() throws IOException {
    SystemProgram.run("fsfreeze", "-f", directory.toString());
    isFrozen = true;
  }

  /** Lets writes go on. */
  public void thaw() throws IOException {
    SystemProgram.run("fsfreeze", "-u", directory.toString());
    isFrozen = false;
  }

  /** Removes it. Whoever uses it should have ended. */
  @Override
  public void close() throws IOException {
    if (isFrozen) {
      thaw();
    }
    SystemProgram.run("umount", directory.toString());
    Files.delete(image);
  }
}
