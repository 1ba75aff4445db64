/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NodeExistsException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.zip.CRC32C;

/**
 * Writes one map output to a file that is not read yet, and seals it: gives it its name, unless
 * another attempt was first. Used by one thread.
 */
public final class OutputWriter implements AutoCloseable {
  /**
   * A sealed output.
   *
   * @param index its index
   * @param host the host whose datanodes hold its bytes
   */
  public record Sealed(OutputIndex index, String host) {}

  private final OutputPlace place;
  private final CrailStore store;
  private final OutputId id;
  private final String path;
  private final int partitions;
  private final long mostIndexBytes;
  private final CrailFile file;
  private final CrailBufferedOutputStream out;
  private final List<long[]> ends = new ArrayList<>();
  private final List<int[]> checksums = new ArrayList<>();
  private final List<Integer> chunks = new ArrayList<>();
  private final CRC32C crc = new CRC32C();
  private int next;
  private long position;
  private long begin;
  private long indexBytes = OutputIndex.TRAILER_BYTES;

  /** The rename was begun; its end may not be known. */
  private boolean sealing;

  private boolean ended;

  /** Until the stream is closed. */
  private boolean hasTurn = true;

  /**
   * Waits for a turn and creates the file.
   *
   * @param attempt a name that no other attempt to write this output has
   * @throws IOException a {@code ParentNotFoundException} when the directory of the shuffle is not
   *     there; a {@code LimitExceededException} when the index would be too large, or there is no
   *     turn
   */
  public OutputWriter(OutputPlace place, OutputId id, String attempt, int partitions)
      throws IOException {
    this(place, id, attempt, partitions, OutputIndex.MAX_BYTES);
  }

  /** For tests, with another limit. */
  OutputWriter(OutputPlace place, OutputId id, String attempt, int partitions, long mostIndexBytes)
      throws IOException {
    this.place = place;
    this.store = place.store();
    this.id = id;
    this.path = place.path(id) + '.' + attempt;
    this.partitions = partitions;
    this.mostIndexBytes = mostIndexBytes;
    refuseLargeIndex(1, entryBytes());
    place.turns().take();
    boolean created = false;
    try {
      this.file = place.createOutput(path);
      created = true;
      this.out = file.getBufferedOutputStream(0);
    } catch (Exception e) {
      IOException failure = StoreFailure.of(e);
      if (created || failure instanceof InterruptedIOException) {
        remove(failure);
      }
      endTurn();
      throw failure;
    }
  }

  private void endTurn() {
    if (hasTurn) {
      hasTurn = false;
      place.turns().giveBack();
    }
  }

  /** The bytes that a run has in the index, without the checksums of its large partitions. */
  private long entryBytes() {
    return (long) OutputIndex.ENTRY_BYTES * partitions;
  }

  /** Fails before writing if readers would reject the index. */
  private void refuseLargeIndex(int runs, long more) throws IOException {
    if (indexBytes + more > mostIndexBytes) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          String.format(
              Locale.ROOT,
              "the index of %s, with %d runs of %d partitions, would have %d bytes, and may have %d",
              id,
              runs,
              partitions,
              indexBytes + more,
              mostIndexBytes));
    }
  }

  private void remove(IOException failure) {
    try {
      remove();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /** {@return the bytes written so far} */
  public long position() {
    return position;
  }

  /**
   * Begins a partition. What is written from now on belongs to it. Within a run, partitions come in
   * ascending order; those that are left out are empty.
   *
   * @throws IOException a {@code LimitExceededException} when the index would be too large
   */
  public void beginPartition(int partition) throws IOException {
    if (next == 0) {
      refuseLargeIndex(ends.size() + 1, entryBytes());
      indexBytes += entryBytes();
      ends.add(new long[partitions]);
      checksums.add(new int[partitions]);
    }
    if (partition < next || partition >= partitions) {
      throw new IllegalStateException("partition " + partition + " after " + (next - 1));
    }
    skipTo(partition);
    crc.reset();
    begin = position;
  }

  private void skipTo(int partition) {
    long[] run = ends.get(ends.size() - 1);
    Arrays.fill(run, next, partition, position);
    next = partition;
  }

  /** Writes bytes of the partition. */
  public void write(byte[] bytes, int offset, int length) throws IOException {
    for (int done = 0; done < length; ) {
      int count = Math.min(length - done, chunkRoom());
      crc.update(bytes, offset + done, count);
      done += count;
      position += count;
    }
    put(ByteBuffer.wrap(bytes, offset, length));
  }

  /** Writes bytes of the partition. */
  public void write(ByteBuffer bytes) throws IOException {
    ByteBuffer left = bytes.duplicate();
    while (left.position() < bytes.limit()) {
      int count = Math.min(bytes.limit() - left.position(), chunkRoom());
      crc.update(left.limit(left.position() + count));
      position += count;
    }
    put(bytes);
  }

  /** The first bytes need a buffer, which others may have. */
  private void put(ByteBuffer bytes) throws IOException {
    place.turns().withBuffer(() -> out.write(bytes));
  }

  /**
   * The bytes that the present chunk of the partition takes; when it is full, those of the next.
   */
  private int chunkRoom() throws IOException {
    int used = (int) ((position - begin) % OutputIndex.CHUNK_BYTES);
    if (used == 0 && position > begin) {
      refuseLargeIndex(ends.size(), Integer.BYTES);
      indexBytes += Integer.BYTES;
      chunks.add((int) crc.getValue());
      crc.reset();
    }
    return OutputIndex.CHUNK_BYTES - used;
  }

  /**
   * Ends the partition.
   *
   * @return its bytes in this run
   */
  public long endPartition() {
    ends.get(ends.size() - 1)[next] = position;
    checksums.get(ends.size() - 1)[next] = position == begin ? 0 : (int) crc.getValue();
    next++;
    return position - begin;
  }

  /** Ends a run; the next partition begins another one. */
  public void endRun() {
    if (next > 0) {
      skipTo(partitions);
      next = 0;
    }
  }

  /**
   * Seals the output. If another attempt has sealed it, this one's bytes are deleted, and the other
   * one's index is returned.
   */
  public Sealed seal() throws IOException {
    endRun();
    // One copy: Spark allows 2^24 partitions and more.
    long[] allEnds = new long[ends.size() * partitions];
    int[] allChecksums = new int[allEnds.length];
    for (int run = 0; run < ends.size(); run++) {
      System.arraycopy(ends.get(run), 0, allEnds, run * partitions, partitions);
      System.arraycopy(checksums.get(run), 0, allChecksums, run * partitions, partitions);
    }
    OutputIndex index =
        new OutputIndex(
            id,
            partitions,
            allEnds,
            allChecksums,
            chunks.stream().mapToInt(Integer::intValue).toArray());
    put(ByteBuffer.wrap(index.encode()));
    out.close();
    endTurn();
    sealing = true;
    try {
      store.rename(path, place.path(id)).get();
    } catch (ExecutionException e) {
      sealing = !(e.getCause() instanceof NodeExistsException);
      if (sealing) {
        throw StoreFailure.of(e);
      }
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
    if (sealing) {
      Sealed sealed = new Sealed(index, host(file, position + index.fileBytes()));
      ended = true;
      place.counts().sealed(position + index.fileBytes());
      return sealed;
    }
    close();
    MapOutput first = MapOutput.open(store, place.path(id), id);
    return new Sealed(first.index(), host(first.file(), first.file().getCapacity()));
  }

  private static String host(CrailFile file, long length) throws IOException {
    try {
      CrailBlockLocation[] places = file.getBlockLocations(0, Math.max(length, 1));
      return places.length == 0 ? "" : places[0].getHosts()[0];
    } catch (Exception e) {
      throw StoreFailure.of(e);
    }
  }

  /** Deletes the file, unless it was sealed. An interrupted thread does it too. */
  @Override
  public void close() throws IOException {
    if (!ended) {
      discard();
    }
  }

  /** Deletes the file, even when it was sealed. */
  public void discard() throws IOException {
    ended = true;
    try {
      remove();
    } finally {
      try {
        out.close();
      } catch (IOException e) {
        // The node is gone, so its stream has failed.
      } finally {
        endTurn();
      }
    }
  }

  private void remove() throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      // A file without its first name was sealed, even if the answer was lost.
      if (!place.remove(path) && sealing) {
        place.remove(place.path(id));
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
