/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * The index of a map output: where the bytes of each partition end, and their checksums. It stands
 * after the bytes, in the same file. An output consists of one or more runs, and each run has all
 * partitions in their order, so a range of partitions is one piece of each run. The bytes of a
 * partition in a run have a checksum for each {@link #CHUNK_BYTES}, so that large ones can be
 * compared before they are used, without being in memory as a whole. Immutable.
 *
 * <pre>
 * run 0: partition 0, partition 1, ...    bytes as the serializer, compression and encryption made them
 * run 1: partition 0, partition 1, ...
 * ...
 * for each run, for each partition:
 *   8  end        position after the partition's last byte
 *   4  checksum   CRC-32C of its last chunk
 * for each run, for each partition, for each of its chunks but the last:
 *   4  checksum   CRC-32C of the chunk
 * trailer:
 *   8  map        the number of the task attempt
 *   4  shuffle    the number of the shuffle
 *   4  partitions
 *   4  runs
 *   4  chunks     the number of checksums of chunks that are not the last
 *   4  version    2
 *   4  checksum   CRC-32C of the index before this field
 *   4  magic      "CRSH"
 * </pre>
 *
 * All numbers are big-endian.
 */
public final class OutputIndex {
  /** Bytes of an entry. */
  public static final int ENTRY_BYTES = 12;

  /** Bytes of the trailer. */
  public static final int TRAILER_BYTES = 36;

  /** Most bytes of an index. */
  public static final int MAX_BYTES = 1 << 30;

  /** Bytes of each chunk of a partition in a run, but the last one. */
  public static final int CHUNK_BYTES = 1 << 20;

  private static final int MAGIC = 0x43525348;
  private static final int VERSION = 2;
  private static final int RUNS_AT = 16;
  private static final int CHUNKS_AT = 20;
  private static final int VERSION_AT = 24;
  private static final int CHECKSUM_FROM_END = 8;

  private final OutputId id;
  private final int partitions;
  private final long[] ends;
  private final int[] checksums;

  /** The checksums of all chunks that are not the last ones. */
  private final int[] chunks;

  /** For each entry, the number of such chunks before it; empty if there are none at all. */
  private final int[] chunksBefore;

  /**
   * Creates an index.
   *
   * @param partitions the number of partitions
   * @param ends the ends of all runs' partitions; not copied
   * @param checksums the checksums of their last chunks; not copied
   * @param chunks the checksums of their other chunks; not copied
   * @throws IllegalArgumentException when the partitions have not as many chunks
   */
  OutputIndex(OutputId id, int partitions, long[] ends, int[] checksums, int[] chunks) {
    this.id = id;
    this.partitions = partitions;
    this.ends = ends;
    this.checksums = checksums;
    this.chunks = chunks;
    this.chunksBefore = new int[chunks.length == 0 ? 0 : ends.length];
    long before = 0;
    for (int i = 0; i < ends.length; i++) {
      if (chunksBefore.length > 0) {
        chunksBefore[i] = (int) before;
      }
      before += Math.max(0, chunks(i) - 1);
    }
    if (before != chunks.length) {
      throw new IllegalArgumentException(chunks.length + " checksums for " + before + " chunks");
    }
  }

  /** The number of chunks of an entry. */
  private int chunks(int entry) {
    long length = ends[entry] - (entry == 0 ? 0 : ends[entry - 1]);
    return (int) ((length + CHUNK_BYTES - 1) / CHUNK_BYTES);
  }

  /** {@return the output that it belongs to} */
  public OutputId id() {
    return id;
  }

  /** {@return the number of partitions} */
  public int partitions() {
    return partitions;
  }

  /** {@return the number of runs} */
  public int runs() {
    return partitions == 0 ? 0 : ends.length / partitions;
  }

  /** {@return bytes that the index takes in memory, roughly} */
  public long memoryBytes() {
    return (long) ENTRY_BYTES * ends.length
        + (long) Integer.BYTES * (chunks.length + chunksBefore.length)
        + 64;
  }

  /** {@return bytes that the index takes in its file} */
  public int fileBytes() {
    return ENTRY_BYTES * ends.length + Integer.BYTES * chunks.length + TRAILER_BYTES;
  }

  /** {@return the position of the first byte of a partition in a run} */
  public long start(int run, int partition) {
    int at = run * partitions + partition;
    return at == 0 ? 0 : ends[at - 1];
  }

  /** {@return the position after the last byte of a partition in a run} */
  public long end(int run, int partition) {
    return ends[run * partitions + partition];
  }

  /** {@return the number of chunks of a partition in a run; 0 when it is empty} */
  public int chunks(int run, int partition) {
    return chunks(run * partitions + partition);
  }

  /** {@return the position after the last byte of a chunk of a partition in a run} */
  public long chunkEnd(int run, int partition, int chunk) {
    long end = start(run, partition) + (chunk + 1L) * CHUNK_BYTES;
    return Math.min(end, end(run, partition));
  }

  /** {@return the checksum of a chunk of a partition in a run} */
  public int checksum(int run, int partition, int chunk) {
    int entry = run * partitions + partition;
    return chunk == chunks(entry) - 1 ? checksums[entry] : chunks[chunksBefore[entry] + chunk];
  }

  /**
   * Returns the bytes of a range of partitions, in all runs.
   *
   * @param from the first partition
   * @param to the partition after the last
   * @return bytes
   */
  public long length(int from, int to) {
    long length = 0;
    for (int run = 0; run < runs(); run++) {
      length += end(run, to - 1) - start(run, from);
    }
    return length;
  }

  /** {@return the bytes of each partition, in all runs} */
  public long[] lengths() {
    long[] lengths = new long[partitions];
    for (int i = 0; i < partitions; i++) {
      lengths[i] = length(i, i + 1);
    }
    return lengths;
  }

  /** {@return the index in the form of the file} */
  byte[] encode() {
    ByteBuffer out = ByteBuffer.allocate(fileBytes());
    for (int i = 0; i < ends.length; i++) {
      out.putLong(ends[i]).putInt(checksums[i]);
    }
    for (int checksum : chunks) {
      out.putInt(checksum);
    }
    out.putLong(id.map()).putInt(id.shuffle()).putInt(partitions).putInt(runs());
    out.putInt(chunks.length).putInt(VERSION);
    CRC32C crc = new CRC32C();
    crc.update(out.array(), 0, out.position());
    out.putInt((int) crc.getValue()).putInt(MAGIC);
    return out.array();
  }

  /**
   * Returns how many bytes the index has whose last bytes are known.
   *
   * @param tail at least the trailer, up to the end of the file
   * @param fileBytes bytes of the file
   * @throws IOException for bytes that are no trailer of an output
   */
  public static int bytes(ByteBuffer tail, long fileBytes) throws IOException {
    int trailer = tail.limit() - TRAILER_BYTES;
    if (trailer < tail.position() || tail.getInt(tail.limit() - 4) != MAGIC) {
      throw new CorruptOutputException("no index of a map output in its last bytes");
    }
    if (tail.getInt(trailer + VERSION_AT) != VERSION) {
      throw new CorruptOutputException("index of version " + tail.getInt(trailer + VERSION_AT));
    }
    long entries = (long) tail.getInt(trailer + 12) * tail.getInt(trailer + RUNS_AT);
    int chunks = tail.getInt(trailer + CHUNKS_AT);
    long bytes = ENTRY_BYTES * entries + (long) Integer.BYTES * chunks + TRAILER_BYTES;
    if (tail.getInt(trailer + 12) < 0
        || entries < 0
        || chunks < 0
        || bytes > Math.min(fileBytes, MAX_BYTES)) {
      throw new CorruptOutputException("an index of " + entries + " entries in " + fileBytes);
    }
    return (int) bytes;
  }

  /**
   * Reads an index.
   *
   * @param in the whole index and nothing else
   * @param fileBytes bytes of the file
   * @param id the output that it has to belong to
   * @throws IOException for bytes that are no index of this output
   */
  public static OutputIndex decode(ByteBuffer in, long fileBytes, OutputId id) throws IOException {
    int trailer = in.limit() - TRAILER_BYTES;
    CRC32C crc = new CRC32C();
    crc.update(in.duplicate().limit(in.limit() - CHECKSUM_FROM_END));
    if ((int) crc.getValue() != in.getInt(in.limit() - CHECKSUM_FROM_END)) {
      throw new CorruptOutputException("the checksum of the index of " + id + " is wrong");
    }
    OutputId found = new OutputId(in.getInt(trailer + 8), in.getLong(trailer));
    if (!found.equals(id)) {
      throw new CorruptOutputException("the index of " + found + " in the file of " + id);
    }
    int partitions = in.getInt(trailer + 12);
    int[] chunks = new int[in.getInt(trailer + CHUNKS_AT)];
    long[] ends = new long[(trailer - in.position() - Integer.BYTES * chunks.length) / ENTRY_BYTES];
    int[] checksums = new int[ends.length];
    long last = 0;
    for (int i = 0; i < ends.length; i++) {
      ends[i] = in.getLong();
      checksums[i] = in.getInt();
      if (ends[i] < last) {
        throw new CorruptOutputException("the index of " + id + " goes back at entry " + i);
      }
      last = ends[i];
    }
    for (int i = 0; i < chunks.length; i++) {
      chunks[i] = in.getInt();
    }
    try {
      OutputIndex index = new OutputIndex(id, partitions, ends, checksums, chunks);
      if (last + index.fileBytes() == fileBytes) {
        return index;
      }
    } catch (IllegalArgumentException e) {
      throw new CorruptOutputException("the index of " + id + " has " + e.getMessage());
    }
    throw new CorruptOutputException("the index of " + id + " does not fit " + fileBytes);
  }

  @Override
  public String toString() {
    return id
        + ": "
        + partitions
        + " partitions, "
        + Arrays.stream(ends).max().orElse(0)
        + " bytes";
  }
}
