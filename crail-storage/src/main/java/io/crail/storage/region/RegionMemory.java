/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

import io.crail.common.NativeMemory;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The bytes of one region and their generations, in mapped files or in anonymous memory of the
 * process. Thread-safe; only absolute access. The memory goes back when this is no longer
 * reachable, or with {@link #unmap}, whose caller knows that no thread uses it.
 */
public final class RegionMemory implements AutoCloseable {
  /** The most bytes of a region. */
  public static final int MAX_LENGTH = Integer.MAX_VALUE & -Extent.MIN_LENGTH;

  private static final int PAGE = 4 << 10;
  private static final int CACHE_LINE = 64;

  /**
   * From this length on, a copy first fetches the memory that it writes to. Smaller copies more
   * often go to memory that is in a cache anyway, and there a fetch loses up to a third.
   */
  static final int LARGE = 64 << 10;

  /**
   * From this length on, a JVM may itself copy past the caches, which is faster still: Java 25 does
   * so from 2.5 MiB on, on processors with AVX-512. Other JVMs and processors lose the gain of a
   * fetch here.
   */
  private static final int HUGE =
      Runtime.version().feature() >= 25 ? (5 << 20) / 2 : Integer.MAX_VALUE;

  private final int index;
  private final ByteBuffer data;
  private final GenerationTable generations;
  private final HazardTable hazards;

  /** Sum of the bytes read only to fetch memory. Without it the compiler would drop these reads. */
  private int fetched;

  /** Null for anonymous memory. */
  private final RegionFile file;

  /** All memory of the region. */
  private final List<NativeMemory> memory;

  private RegionMemory(int index, List<NativeMemory> memory, HazardTable hazards, RegionFile file) {
    this.index = index;
    this.memory = memory;
    this.data = memory.get(0).buffer();
    this.generations = new GenerationTable(memory.get(1).buffer());
    this.hazards = hazards;
    this.file = file;
  }

  /**
   * Creates region {@code index} as new files {@code region-<index>}, {@code region-<index>.gen}
   * and {@code region-<index>.grown} of a directory. The memory of the latter two is taken at once.
   *
   * @param length bytes, a multiple of {@link Extent#MIN_LENGTH}
   * @param hugePages holds the file of the data, which takes its memory when mapped; null when that
   *     file is beside the others
   * @param hazards the table of the datanode
   */
  static RegionMemory create(
      SafeDirectory directory, int index, int length, HugePages hugePages, HazardTable hazards)
      throws IOException {
    checkLength(length);
    directory.write(RegionFile.generationFile(index), new byte[GenerationTable.lengthFor(length)]);
    byte[] grown = new byte[RegionFile.grownLengthFor(length)];
    Arrays.fill(grown, (byte) (hugePages == null ? 0 : 1));
    directory.write(RegionFile.grownFile(index), grown);
    try (FileChannel data =
        hugePages == null
            ? directory.create(RegionFile.dataFile(index))
            : hugePages.create(directory.path(), index)) {
      return map(directory, index, data, length, hazards);
    }
  }

  /**
   * Maps the files of a region that its datanode has created.
   *
   * @param hazards the table of the datanode
   * @throws IOException when there are none, or they are not the files of a region
   */
  static RegionMemory open(Path directory, int index, HazardTable hazards) throws IOException {
    return Uninterrupted.run(
        () -> {
          try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
            return open(files, index, hazards);
          }
        });
  }

  static RegionMemory open(SafeDirectory files, int index, HazardTable hazards) throws IOException {
    try (FileChannel data = openData(files, index)) {
      long length = data.size();
      if (length < Extent.MIN_LENGTH || length > MAX_LENGTH || length % Extent.MIN_LENGTH != 0) {
        throw new IOException(
            files.path().resolve(RegionFile.dataFile(index)) + " has " + length + " bytes");
      }
      return map(files, index, data, (int) length, hazards);
    }
  }

  /** What is missing of the files of regions of these lengths; null when they are there. */
  static String lack(SafeDirectory files, List<Integer> lengths) throws IOException {
    try {
      String lack = lack(files, HazardTable.FILE, HazardTable.LENGTH);
      for (int i = 0; i < lengths.size() && lack == null; i++) {
        int length = lengths.get(i);
        try (FileChannel data = openData(files, i)) {
          lack = data.size() == length ? null : RegionFile.dataFile(i) + " has another length";
        }
        lack =
            lack == null
                ? lack(files, RegionFile.generationFile(i), GenerationTable.lengthFor(length))
                : lack;
        lack =
            lack == null
                ? lack(files, RegionFile.grownFile(i), RegionFile.grownLengthFor(length))
                : lack;
      }
      return lack;
    } catch (NoSuchFileException e) {
      return e.getFile() + " is missing";
    }
  }

  private static String lack(SafeDirectory files, String name, int length) throws IOException {
    try (FileChannel channel = files.open(name, StandardOpenOption.READ)) {
      return channel.size() == length ? null : name + " has another length";
    }
  }

  /** Writes all bytes and generations of a region to the disk. */
  static void force(SafeDirectory files, int index) throws IOException {
    try (FileChannel data = openData(files, index);
        FileChannel generations =
            files.open(RegionFile.generationFile(index), StandardOpenOption.WRITE);
        FileChannel grown = files.open(RegionFile.grownFile(index), StandardOpenOption.WRITE)) {
      data.force(true);
      generations.force(true);
      grown.force(true);
    }
  }

  private static FileChannel openData(SafeDirectory files, int index) throws IOException {
    Path pages = HugePages.placeOf(files);
    if (pages == null) {
      return files.open(
          RegionFile.dataFile(index), StandardOpenOption.READ, StandardOpenOption.WRITE);
    }
    try (SafeDirectory huge = SafeDirectory.shared(pages)) {
      return huge.open(
          HugePages.fileName(files.path(), index),
          StandardOpenOption.READ,
          StandardOpenOption.WRITE);
    }
  }

  /**
   * Creates region {@code index} in memory of this process.
   *
   * @param hazards the table of the datanode
   */
  public static RegionMemory anonymous(int index, int length, HazardTable hazards) {
    checkLength(length);
    return new RegionMemory(
        index,
        List.of(
            NativeMemory.allocate(length),
            NativeMemory.allocate(GenerationTable.lengthFor(length))),
        hazards,
        null);
  }

  /** The region's index at its datanode. */
  public int index() {
    return index;
  }

  /** Bytes. */
  public int length() {
    return data.capacity();
  }

  /**
   * All bytes of the region. Position and limit must not be changed. A caller writes only where
   * {@link #isReady} is true.
   */
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
   * @return OK, or why the copied bytes must not be used
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
   * Takes a range for a generation. A writer that announces a write there after this, and then
   * finds its own generation, may place bytes.
   *
   * @return OK; STALE_EXTENT when a later owner has the range; SPACE_PINNED when an earlier writer
   *     is in the middle of a write there, so that no one can have the range before that writer has
   *     continued
   */
  public ErrorCode take(int regionOffset, int length, long generation) {
    return take(regionOffset, length, generation, length);
  }

  private ErrorCode take(int regionOffset, int length, long generation, int lookAtLength) {
    ErrorCode code = generations.adopt(regionOffset, length, generation);
    return code == ErrorCode.OK && hazards.isHeld(index, regionOffset, lookAtLength, generation)
        ? ErrorCode.SPACE_PINNED
        : code;
  }

  /**
   * True when any write to this region is under way. The caller has fenced its generations before.
   */
  public boolean isBeingWritten() {
    return hazards.isHeld(index, 0, length(), Long.MAX_VALUE - 1);
  }

  /**
   * Copies bytes into the region, under a generation.
   *
   * @param hazard announces exactly this write; retracted when this returns
   * @param source memory; neither position nor limit are changed
   * @param checked false when other writers leave no generations, so that only a fence counts
   * @param lookAtLength bytes, from the first one on, in which no older write may be under way: at
   *     least {@code length}; the whole extent for its first bytes, since an extent that cannot be
   *     filled is better given back before it holds bytes
   * @return OK when the bytes are placed, or a code of {@link #take} or {@link #place}
   */
  public ErrorCode write(
      Hazard hazard,
      int regionOffset,
      ByteBuffer source,
      int sourceOffset,
      int length,
      long generation,
      boolean checked,
      int lookAtLength) {
    ErrorCode code;
    try {
      code =
          checked
              ? take(regionOffset, length, generation, lookAtLength)
              : pass(regionOffset, generation);
      if (code == ErrorCode.OK) {
        code = place(regionOffset, source, sourceOffset, length);
      }
    } finally {
      hazard.retract();
    }
    // A full fence follows the retract, in verifyAfter or by itself. So either the thread that ends
    // this write sees that the writer is closed, or the thread that closes the writer sees the end
    // of this write.
    if (checked && code == ErrorCode.OK) {
      return generations.verifyAfter(regionOffset, length, generation);
    }
    VarHandle.fullFence();
    return code;
  }

  private ErrorCode pass(int regionOffset, long generation) {
    return generations.isFenced(regionOffset, generation) ? ErrorCode.STALE_EXTENT : ErrorCode.OK;
  }

  /**
   * Copies bytes into the region, whose generation the caller has checked.
   *
   * @param source memory; neither position nor limit are changed
   * @return OK; NO_SPACE when the file system has no room for memory that is used for the first
   *     time; UNAVAILABLE when the region is closed
   */
  public ErrorCode place(int regionOffset, ByteBuffer source, int sourceOffset, int length) {
    if (!isReady(regionOffset, length)) {
      return file.write(regionOffset, source, sourceOffset, length);
    }
    if (length < LARGE || length >= HUGE) {
      data.put(regionOffset, source, sourceOffset, length);
    } else {
      fetchAndPut(regionOffset, source, sourceOffset, length);
    }
    return ErrorCode.OK;
  }

  /**
   * Copies page by page, and first reads a byte of each cache line of a page. A store to a line
   * that is in no cache fetches the line first. Few of these fetches overlap, since stores leave
   * their buffer in order. Loads of many lines do overlap.
   */
  private void fetchAndPut(int regionOffset, ByteBuffer source, int sourceOffset, int length) {
    // All or nothing, like a single copy.
    Objects.checkFromIndexSize(sourceOffset, length, source.limit());
    Objects.checkFromIndexSize(regionOffset, length, data.limit());
    int sum = 0;
    int from = sourceOffset;
    int end = regionOffset + length;
    for (int at = regionOffset; at < end; ) {
      int next = Math.min((at & -PAGE) + PAGE, end);
      sum += fetch(at, next);
      data.put(at, source, from, next - at);
      from += next - at;
      at = next;
    }
    if (sum == Integer.MIN_VALUE) {
      // Written hardly ever, since all threads read the fields beside it.
      fetched = sum;
    }
  }

  /** A method of its own: a method that is called for each page is compiled after a MiB. */
  private int fetch(int begin, int end) {
    int sum = 0;
    for (int line = begin & -CACHE_LINE; line < end; line += CACHE_LINE) {
      sum += data.get(line);
    }
    return sum;
  }

  /**
   * True when a range has all its memory, as far as is known here. Only then may {@link #data()} be
   * written there, see {@link RegionFile}. The range is then mapped.
   */
  public boolean isReady(int regionOffset, int length) {
    return file == null || file.isReady(data, regionOffset, length);
  }

  /**
   * Takes all memory of a region in files that is not in use yet.
   *
   * @param meanwhile runs every few milliseconds during that
   * @throws IOException when there is no room
   */
  void growAll(Runnable meanwhile) throws IOException {
    file.growAll(meanwhile);
  }

  /** Closes the file. Mapped memory stays mapped, but the region grows no more. */
  @Override
  public void close() {
    if (file != null) {
      file.close();
    }
  }

  /** Closes the file, and gives the memory back at once. No thread uses this any more. */
  void unmap() {
    close();
    memory.forEach(NativeMemory::free);
  }

  private static void checkLength(int length) {
    if (length < Extent.MIN_LENGTH || length % Extent.MIN_LENGTH != 0) {
      throw new IllegalArgumentException("bad length of a region: " + length);
    }
  }

  private static RegionMemory map(
      SafeDirectory directory, int index, FileChannel data, int length, HazardTable hazards)
      throws IOException {
    Path place = directory.path();
    List<NativeMemory> memory = new ArrayList<>();
    boolean mapped = false;
    try {
      memory.add(NativeMemory.map(data, length));
      memory.add(
          map(directory, RegionFile.generationFile(index), GenerationTable.lengthFor(length)));
      memory.add(map(directory, RegionFile.grownFile(index), RegionFile.grownLengthFor(length)));
      mapped = true;
    } finally {
      if (!mapped) {
        memory.forEach(NativeMemory::free);
      }
    }
    return new RegionMemory(
        index,
        memory,
        hazards,
        new RegionFile(
            place.resolve(RegionFile.dataFile(index)),
            () -> openToGrow(place, index),
            memory.get(2).buffer()));
  }

  private static NativeMemory map(SafeDirectory directory, String name, int length)
      throws IOException {
    try (FileChannel channel =
        directory.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      if (channel.size() != length) {
        throw new IOException(
            directory.path().resolve(name) + " has " + channel.size() + " bytes, not " + length);
      }
      return NativeMemory.map(channel, length);
    }
  }

  private static FileChannel openToGrow(Path directory, int index) throws IOException {
    try (SafeDirectory files = SafeDirectory.ofUser(directory)) {
      return files.open(RegionFile.dataFile(index), StandardOpenOption.WRITE);
    }
  }
}
