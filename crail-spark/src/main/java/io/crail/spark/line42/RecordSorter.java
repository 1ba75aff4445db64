/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.SparkOutOfMemoryError;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.array.LongArray;
import org.apache.spark.unsafe.memory.MemoryBlock;
import org.apache.spark.util.collection.unsafe.sort.RadixSort;

/**
 * Keeps serialized records in pages of the task's memory. When the memory is used up, it writes
 * them as a run, in the order of their partitions. Within a partition they keep their order.
 *
 * <p>In a page, a record is its length in 4 bytes, and its bytes. A pointer to it is sorted by its
 * first bits:
 *
 * <pre>
 *   24 bits  partition
 *   13 bits  page
 *   27 bits  offset in the page
 * </pre>
 *
 * Used by the thread that created it. Other threads of the task may ask it to spill, in vain.
 */
final class RecordSorter extends MemoryConsumer {
  private static final int PARTITION_SHIFT = 40;
  private static final int FIRST_PARTITION_BYTE = PARTITION_SHIFT / Byte.SIZE;
  private static final int LAST_PARTITION_BYTE = Long.BYTES - 1;
  private static final int PAGE_SHIFT = 27;
  private static final int PAGE_MASK = (1 << PARTITION_SHIFT - PAGE_SHIFT) - 1;
  private static final int MOST_PAGE_BYTES = 1 << PAGE_SHIFT;

  /** Half of what a task may have, and less than a pointer can express. */
  private static final int MOST_PAGES = 1 << 12;

  private static final long MOST_POINTERS = TaskMemoryManager.MAXIMUM_PAGE_SIZE_BYTES / Long.BYTES;

  private static final int LENGTH_BYTES = Integer.BYTES;

  private final TaskContext task;
  private final RunOutput runs;
  private final Thread owner = Thread.currentThread();
  private final RecordStream record = new RecordStream();
  private final int mostRecords;
  private final long mostBytes;
  private final long firstPointers;

  private final List<MemoryBlock> pages = new ArrayList<>();

  /** The page that is being filled: its memory, its first byte, the next one, its end. */
  private Object base;

  private long begin;
  private long cursor;
  private long end;

  /** The second half is for the sort. */
  private LongArray pointers;

  private int capacity;
  private int count;

  /** Within a record or a run, when nothing can be spilled. */
  private boolean busy;

  /** A run was begun and not ended. */
  private boolean failed;

  private long peakBytes;

  /** Takes no memory yet. */
  RecordSorter(TaskContext task, SparkConf conf, RunOutput runs) {
    super(
        task.taskMemoryManager(),
        Math.min(MOST_PAGE_BYTES, task.taskMemoryManager().pageSizeBytes()),
        task.taskMemoryManager().getTungstenMemoryMode());
    this.task = task;
    this.runs = runs;
    this.mostRecords =
        number(conf.get(package$.MODULE$.SHUFFLE_SPILL_NUM_ELEMENTS_FORCE_SPILL_THRESHOLD()))
            .intValue();
    this.mostBytes =
        number(conf.get(package$.MODULE$.SHUFFLE_SPILL_MAX_SIZE_FORCE_SPILL_THRESHOLD()))
            .longValue();
    this.firstPointers =
        number(conf.get(package$.MODULE$.SHUFFLE_SORT_INIT_BUFFER_SIZE())).longValue();
  }

  private static Number number(Object value) {
    return (Number) value;
  }

  /** {@return where the bytes of each record go, between {@link #begin} and {@link #end}} */
  OutputStream record() {
    return record;
  }

  /** {@return the most bytes of the task's memory that it had} */
  long peakBytes() {
    return peakBytes;
  }

  /** Begins a record. */
  void begin() throws IOException {
    if (count >= mostRecords || getUsed() >= mostBytes || pages.size() > MOST_PAGES) {
      spill();
    }
    if (count == capacity) {
      growPointers();
    }
    busy = true;
    record.begin();
  }

  /** Ends the record, which belongs to a partition. */
  void end(int partition) throws IOException {
    busy = false;
    long at = record.end();
    pointers.set(
        count,
        (long) partition << PARTITION_SHIFT | (long) (pages.size() - 1) << PAGE_SHIFT | at - begin);
    count++;
  }

  private void growPointers() throws IOException {
    long size = pointers == null ? firstPointers : 2 * pointers.size();
    if (size > MOST_POINTERS) {
      spill();
      size = firstPointers;
    }
    LongArray larger = null;
    try {
      larger = allocateArray(size);
    } catch (SparkOutOfMemoryError e) {
      if (pointers != null || size == firstPointers) {
        throw e;
      }
    }
    if (pointers == null && size > firstPointers) {
      // It spilled. What is free now is for records first.
      if (larger != null) {
        freeArray(larger);
      }
      larger = allocateArray(firstPointers);
    }
    if (pointers != null) {
      Platform.copyMemory(
          pointers.getBaseObject(),
          pointers.getBaseOffset(),
          larger.getBaseObject(),
          larger.getBaseOffset(),
          (long) count * Long.BYTES);
      peakBytes = Math.max(peakBytes, getUsed());
      freeArray(pointers);
    }
    pointers = larger;
    capacity = (int) (larger.size() / 2);
  }

  private void takePage(int required) throws IOException {
    MemoryBlock page = allocatePage(required);
    if (pointers == null) {
      // It spilled. The pointers come first, as a page may take all that is left.
      freePage(page);
      growPointers();
      page = allocatePage(required);
    }
    pages.add(page);
    base = page.getBaseObject();
    begin = page.getBaseOffset();
    cursor = begin;
    end = begin + page.size();
  }

  /**
   * Writes a run and gives the memory back. For other consumers it does so only in its own thread,
   * while records are computed: another thread cannot know what this one is doing.
   */
  @Override
  public long spill(long size, MemoryConsumer trigger) throws IOException {
    if (count == 0 || busy || Thread.currentThread() != owner) {
      return 0;
    }
    writeRun();
    long freed = free();
    task.taskMetrics().incMemoryBytesSpilled(freed);
    return freed;
  }

  /** Writes the last run and gives the memory back. */
  void finish() throws IOException {
    if (count > 0) {
      writeRun();
    }
    free();
  }

  private void writeRun() throws IOException {
    if (failed) {
      // Not every consumer passes on what its request for memory met.
      throw new IOException("an earlier run of this output could not be written");
    }
    failed = true;
    busy = true;
    int from =
        RadixSort.sort(pointers, count, FIRST_PARTITION_BYTE, LAST_PARTITION_BYTE, false, false);
    MemoryBlock[] blocks = pages.toArray(new MemoryBlock[0]);
    int present = -1;
    for (int i = from; i < from + count; i++) {
      long pointer = pointers.get(i);
      int partition = (int) (pointer >>> PARTITION_SHIFT);
      if (partition != present) {
        runs.beginPartition(partition);
        present = partition;
      }
      MemoryBlock block = blocks[(int) (pointer >>> PAGE_SHIFT) & PAGE_MASK];
      Object memory = block.getBaseObject();
      long at = block.getBaseOffset() + (pointer & MOST_PAGE_BYTES - 1);
      runs.write(memory, at + LENGTH_BYTES, Platform.getInt(memory, at));
    }
    runs.endRun();
    busy = false;
    failed = false;
  }

  /**
   * Gives all memory back, with the records in it.
   *
   * @return bytes
   */
  long free() {
    long freed = getUsed();
    peakBytes = Math.max(peakBytes, freed);
    pages.forEach(this::freePage);
    pages.clear();
    base = null;
    begin = 0;
    cursor = 0;
    end = 0;
    if (pointers != null) {
      freeArray(pointers);
      pointers = null;
    }
    capacity = 0;
    count = 0;
    return freed;
  }

  /**
   * Puts the bytes of a record into the page. If it has no room for them, they move to the heap.
   */
  private final class RecordStream extends OutputStream {
    private static final int KEPT_BYTES = 1 << 20;

    private final byte[] single = new byte[1];
    private byte[] heap = new byte[0];
    private int heapBytes;
    private boolean inHeap;
    private long start;

    void begin() {
      start = cursor;
      heapBytes = 0;
      inHeap = end - cursor < LENGTH_BYTES;
      if (!inHeap) {
        cursor += LENGTH_BYTES;
      }
    }

    @Override
    public void write(int value) throws IOException {
      single[0] = (byte) value;
      write(single, 0, 1);
    }

    @Override
    public void write(byte[] source, int offset, int length) throws IOException {
      if (!inHeap && length > end - cursor) {
        inHeap = true;
        int before = (int) (cursor - start) - LENGTH_BYTES;
        reserve(before);
        Platform.copyMemory(base, start + LENGTH_BYTES, heap, Platform.BYTE_ARRAY_OFFSET, before);
        heapBytes = before;
        cursor = start;
      }
      if (inHeap) {
        reserve(length);
        System.arraycopy(source, offset, heap, heapBytes, length);
        heapBytes += length;
      } else {
        Platform.copyMemory(source, Platform.BYTE_ARRAY_OFFSET + offset, base, cursor, length);
        cursor += length;
      }
    }

    private void reserve(int more) throws IOException {
      long needed = (long) heapBytes + more;
      if (needed > heap.length) {
        long most = Integer.MAX_VALUE - Long.BYTES - LENGTH_BYTES;
        if (needed > most) {
          throw new IOException("a record of more than " + most + " bytes");
        }
        byte[] larger = new byte[(int) Math.min(most, Math.max(needed, 2L * heap.length))];
        System.arraycopy(heap, 0, larger, 0, heapBytes);
        heap = larger;
      }
    }

    /** Ends the record and returns its address. */
    long end() throws IOException {
      if (inHeap) {
        takePage(LENGTH_BYTES + heapBytes);
        start = cursor;
        cursor += LENGTH_BYTES + heapBytes;
        Platform.copyMemory(
            heap, Platform.BYTE_ARRAY_OFFSET, base, start + LENGTH_BYTES, heapBytes);
        if (heap.length > KEPT_BYTES) {
          heap = new byte[0];
        }
      }
      Platform.putInt(base, start, (int) (cursor - start) - LENGTH_BYTES);
      return start;
    }
  }
}
