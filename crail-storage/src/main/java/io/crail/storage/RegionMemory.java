/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.error.ErrorCode;
import io.crail.protocol.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The bytes of one region and their generations, in mapped files or in anonymous memory of the
 * process. Thread-safe; only absolute access. The memory goes back when this is no longer
 * reachable, for the platform offers no earlier way that is safe against access in other threads.
 */
public final class RegionMemory {
  /** The most bytes of a region. */
  public static final int MAX_LENGTH = Integer.MAX_VALUE & -Extent.MIN_LENGTH;

  private static final int TOUCH_STRIDE = 4096;
  private static final int TOUCH_BREAK = 16 << 20;

  private final int index;
  private final ByteBuffer data;
  private final GenerationTable generations;

  private RegionMemory(int index, ByteBuffer data, ByteBuffer cells) {
    this.index = index;
    this.data = data;
    this.generations = new GenerationTable(cells);
  }

  /**
   * Creates region {@code index} as new files {@code region-<index>} and {@code region-<index>.gen}
   * of a directory.
   *
   * @param length bytes, a multiple of {@link Extent#MIN_LENGTH}
   */
  static RegionMemory create(Path directory, int index, int length) throws IOException {
    checkLength(length);
    ByteBuffer data = map(dataFile(directory, index), length, true);
    ByteBuffer cells =
        map(generationFile(directory, index), GenerationTable.lengthFor(length), true);
    return new RegionMemory(index, data, cells);
  }

  /**
   * Maps the files of a region that its datanode has created.
   *
   * @throws IOException when there are none, or they are not those of a region
   */
  static RegionMemory open(Path directory, int index) throws IOException {
    Path file = dataFile(directory, index);
    long length = Files.size(file);
    long cellsLength = Files.size(generationFile(directory, index));
    if (length < Extent.MIN_LENGTH
        || length > MAX_LENGTH
        || length % Extent.MIN_LENGTH != 0
        || cellsLength != GenerationTable.lengthFor((int) length)) {
      throw new IOException(
          file + " has " + length + " bytes and " + cellsLength + " bytes of generations");
    }
    return new RegionMemory(
        index,
        map(file, (int) length, false),
        map(generationFile(directory, index), (int) cellsLength, false));
  }

  /** Creates region {@code index} in memory of this process. */
  public static RegionMemory anonymous(int index, int length) {
    checkLength(length);
    return new RegionMemory(
        index,
        ByteBuffer.allocateDirect(length),
        ByteBuffer.allocateDirect(GenerationTable.lengthFor(length)));
  }

  /** The region's index at its datanode. */
  public int index() {
    return index;
  }

  /** Bytes. */
  public int length() {
    return data.capacity();
  }

  /** All bytes of the region; position and limit are nobody's to change. */
  public ByteBuffer data() {
    return data;
  }

  /** Their generations. */
  public GenerationTable generations() {
    return generations;
  }

  /** True when {@code length} bytes at {@code regionOffset} lie within the region. */
  public boolean contains(long regionOffset, int length) {
    return length > 0 && regionOffset >= 0 && regionOffset <= (long) length() - length;
  }

  /**
   * Copies bytes of one generation out of the region.
   *
   * @param target memory; neither position nor limit are changed
   * @return OK, or why what was copied is not to be used
   */
  public ErrorCode read(
      int regionOffset, ByteBuffer target, int targetOffset, int length, long generation) {
    ErrorCode code = generations.verify(regionOffset, length, generation);
    if (code != ErrorCode.OK) {
      return code;
    }
    target.put(targetOffset, data, regionOffset, length);
    return generations.verifyAfter(regionOffset, length, generation);
  }

  /**
   * Copies bytes into the region, in the name of a generation.
   *
   * @param source memory; neither position nor limit are changed
   * @return OK when the bytes are placed
   */
  public ErrorCode write(
      int regionOffset, ByteBuffer source, int sourceOffset, int length, long generation) {
    ErrorCode code = generations.adopt(regionOffset, length, generation);
    if (code != ErrorCode.OK) {
      return code;
    }
    data.put(regionOffset, source, sourceOffset, length);
    return generations.verifyAfter(regionOffset, length, generation);
  }

  private static Path dataFile(Path directory, int index) {
    return directory.resolve("region-" + index);
  }

  private static Path generationFile(Path directory, int index) {
    return directory.resolve("region-" + index + ".gen");
  }

  private static void checkLength(int length) {
    if (length < Extent.MIN_LENGTH || length % Extent.MIN_LENGTH != 0) {
      throw new IllegalArgumentException("bad length of a region: " + length);
    }
  }

  private static ByteBuffer map(Path file, int length, boolean create) throws IOException {
    try (FileChannel channel =
        create
            ? FileChannel.open(
                file,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)
            : FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(MapMode.READ_WRITE, 0, length);
    }
  }

  /**
   * Writes into each page of a region that nobody uses yet, so that its memory is taken now.
   *
   * @param meanwhile runs every few milliseconds
   */
  void touch(Runnable meanwhile) {
    for (int at = 0; at < data.capacity(); at += TOUCH_STRIDE) {
      data.put(at, (byte) 0);
      if (at % TOUCH_BREAK == 0) {
        meanwhile.run();
      }
    }
  }
}
