/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A private file system in memory, of a limited size, whose free memory can be taken away. Needs
 * root.
 */
public final class SmallMemory implements AutoCloseable {
  private static final int[] STEPS = {1 << 20, 4 << 10};

  private final Path directory;
  private final Path ballast;

  private SmallMemory(Path directory) {
    this.directory = directory;
    this.ballast = directory.resolve("ballast");
  }

  /** Why it is unavailable here; empty when it is available. */
  public static String unavailable() throws IOException {
    Path directory = Files.createTempDirectory("crail-memory");
    try (SmallMemory memory = mount(directory, STEPS[0])) {
      return Files.isDirectory(memory.directory) ? "" : "no directory";
    } catch (IOException e) {
      return e.getMessage();
    } finally {
      Files.delete(directory);
    }
  }

  /** Mounts the file system on an empty directory. */
  public static SmallMemory mount(Path directory, long bytes) throws IOException {
    SystemProgram.run("mount", "-t", "tmpfs", "-o", "size=" + bytes, "none", directory.toString());
    return new SmallMemory(directory);
  }

  /** Takes all free memory. */
  public void fill() throws IOException {
    try (FileChannel channel =
        FileChannel.open(ballast, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (int step : STEPS) {
        append(channel, ByteBuffer.allocateDirect(step));
      }
    }
  }

  private static void append(FileChannel channel, ByteBuffer piece) throws IOException {
    long length = -1;
    while (length < channel.size()) {
      length = channel.size();
      try {
        channel.write(piece.clear(), length);
      } catch (IOException e) {
        // The file system is full. This error has no type, but the file does not grow any more.
        return;
      }
    }
  }

  /** Gives the memory back. */
  public void empty() throws IOException {
    Files.deleteIfExists(ballast);
  }

  /** Unmounts the file system; its files are lost. */
  @Override
  public void close() throws IOException {
    SystemProgram.run("umount", directory.toString());
  }
}
