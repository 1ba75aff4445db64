/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.namenode.memory.ValueMemory;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Place;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The extents of a node, in the order of their file offsets and without gaps, and the number of
 * committed bytes; or the bytes of a small value. Most nodes have one extent, so a single {@link
 * Allocation} is a list by itself. Changed under the node's monitor, read by any thread.
 *
 * <p>Size and extents belong together, since the bytes after a seal will lie elsewhere. So a node
 * gets a new object when an extent is sealed, and the size of the old object does not change any
 * more. A reader that takes size and extents from the same object sees a consistent state.
 */
public abstract class NodeSpace {
  private volatile long size;

  /** The number of bytes that readers see. */
  public final long size() {
    return size;
  }

  /** Makes bytes visible. Under the node's monitor. */
  final void commit(long newSize) {
    size = newSize;
  }

  /** The small value with all visible bytes. Null for other nodes, whose bytes lie in extents. */
  public SmallBytes small() {
    return null;
  }

  /** The number of extents. */
  public abstract int count();

  /** The extent at an index below {@link #count()}. */
  public abstract Allocation at(int index);

  /** The position after the last byte of the last extent; 0 when there is none. */
  public final long end() {
    int count = count();
    return count == 0 ? 0 : at(count - 1).fileEnd();
  }

  /**
   * The index of the extent that holds {@code position}; {@link #count()} when it is after all
   * extents.
   */
  public final int indexOf(long position) {
    int low = 0;
    int high = count();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (at(middle).fileEnd() <= position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Writes the extents {@code from} (inclusive) to {@code to} (exclusive), in the form of the wire,
   * for readers. Leaves out the bytes from {@code committed} on, since they may still move.
   */
  public final void encode(int from, int to, long committed, ByteBuffer out, int offset) {
    int at = offset;
    for (int i = from; i < to; i++) {
      at(i).encode(committed, out, at);
      at += Extent.ONE_PLACE;
    }
  }

  /** Bytes of so many extents in the form of the wire. */
  public static int encodedLength(int extents) {
    return extents * Extent.ONE_PLACE;
  }

  /**
   * An extent that belongs to a node, or waits to become free. Immutable.
   *
   * <p>It holds as many bytes of the node as space was allocated, unless it was sealed. After a
   * seal the node continues in another extent, and the space after the seal stays unused until the
   * whole extent is freed.
   */
  public static final class Allocation extends NodeSpace {
    /** Bytes of heap of an extent, of its place in a list, and of its rest in the quarantine. */
    public static final long FOOTPRINT = DatanodeHeap.EXTENT;

    private final DatanodeSpace datanode;
    private final long regionOffset;
    private final long fileOffset;
    private final long generation;
    private final int length;
    private final short region;
    // The exponent of the allocated length, and CUT. With it an extent has 56 bytes.
    private final byte order;

    /** Bit of the order: the end was cut off without a writer that may still write after it. */
    private static final int CUT = 0x40;

    /** An extent of a node at a position, with all of a piece of space. */
    Allocation(DatanodeSpace datanode, FreePieces.Piece piece, long fileOffset) {
      this(
          datanode,
          piece.region(),
          piece.regionOffset(),
          fileOffset,
          piece.generation(),
          piece.length(),
          Integer.numberOfTrailingZeros(piece.length()));
    }

    /** An extent of a node that has all of its space at one place. */
    Allocation(DatanodeSpace datanode, Extent extent, int allocated) {
      this(
          datanode,
          extent.place().region(),
          extent.place().offset(),
          extent.fileOffset(),
          extent.place().generation(),
          extent.length(),
          Integer.numberOfTrailingZeros(allocated));
    }

    private Allocation(
        DatanodeSpace datanode,
        int region,
        long regionOffset,
        long fileOffset,
        long generation,
        int length,
        int order) {
      this.datanode = datanode;
      this.region = (short) region;
      this.regionOffset = regionOffset;
      this.fileOffset = fileOffset;
      this.generation = generation;
      this.length = length;
      this.order = (byte) order;
    }

    /** The datanode that has it. */
    public DatanodeSpace datanode() {
      return datanode;
    }

    /** The index of its region at the datanode. */
    int region() {
      return region & 0xffff;
    }

    long regionOffset() {
      return regionOffset;
    }

    public long fileOffset() {
      return fileOffset;
    }

    /** The position in the node after the last byte. */
    public long fileEnd() {
      return fileOffset + length;
    }

    long generation() {
      return generation;
    }

    /** The number of the node's bytes that it holds or may hold later. */
    public int length() {
      return length;
    }

    /** The length of its space in bytes, a power of two. */
    public int allocatedLength() {
      return 1 << (order & ~CUT);
    }

    /** True when a writer that lost its lease may still write after the end. */
    boolean isSealed() {
      return length < allocatedLength() && (order & CUT) == 0;
    }

    /** True when it is the same space as another one. It may hold fewer of its bytes. */
    public boolean isIn(Allocation other) {
      return datanode == other.datanode
          && region == other.region
          && regionOffset == other.regionOffset
          && generation == other.generation
          && fileOffset == other.fileOffset;
    }

    /** True when it begins at a position of the node, and is at a place. */
    public boolean isAt(long position, Place place) {
      return fileOffset == position && place().equals(place);
    }

    /** The same space, sealed: it holds no byte of the node from {@code fileEnd} on. */
    public Allocation sealedAt(long fileEnd) {
      return endingAt(fileEnd, order & ~CUT);
    }

    /** As {@link #sealedAt}, when no writer has written after that end, unless it was sealed. */
    Allocation cutAt(long fileEnd) {
      return endingAt(fileEnd, isSealed() ? order : order | CUT);
    }

    private Allocation endingAt(long fileEnd, int newOrder) {
      return new Allocation(
          datanode,
          region(),
          regionOffset,
          fileOffset,
          generation,
          (int) (fileEnd - fileOffset),
          newOrder);
    }

    /** The same space, so many bytes further back in a node. */
    Allocation behind(long bytes) {
      return new Allocation(
          datanode, region(), regionOffset, fileOffset + bytes, generation, length, order);
    }

    /** The part before {@code fileEnd}, for clients. */
    public Extent extentBefore(long fileEnd) {
      return new Extent(fileOffset, lengthBefore(fileEnd), place());
    }

    private int lengthBefore(long fileEnd) {
      return (int) Math.min(length, fileEnd - fileOffset);
    }

    /** All of it, for its writer. */
    public Extent extent() {
      return new Extent(fileOffset, length, place());
    }

    /** Where it is. */
    public Place place() {
      return new Place(datanode.id(), region(), regionOffset, generation);
    }

    /** Writes the part before {@code fileEnd} in the form of the wire. */
    void encode(long fileEnd, ByteBuffer out, int offset) {
      Extent.encode(
          out,
          offset,
          fileOffset,
          lengthBefore(fileEnd),
          datanode.id(),
          region(),
          regionOffset,
          generation);
    }

    @Override
    public int count() {
      return 1;
    }

    @Override
    public Allocation at(int index) {
      return this;
    }

    /** Gives its space back, which belonged to a node. */
    void free() {
      datanode.give(region(), regionOffset, allocatedLength());
    }

    /** Gives its space back, which was waiting. */
    void freeAwaited() {
      datanode.giveAwaited(region(), regionOffset, allocatedLength());
    }

    /** Notes its space and its owner; for tests. */
    public void audit(SpaceAudit audit, Object owner) {
      if (generation <= 0 || generation > datanode.generation(region())) {
        throw new AssertionError(
            owner + " has generation " + generation + ", which was not given out");
      }
      audit.region(datanode, region()).owned(regionOffset, allocatedLength(), owner);
    }
  }

  /**
   * A small value, whose bytes the namenode itself holds: a space without extents. The bytes lie
   * outside the heap. They never change; a value that grows gets another object.
   *
   * <p>Readers take no lock, so the memory may be given back and written to again while they copy
   * from it. They find that out afterwards: who gives the memory back takes the address away
   * before.
   */
  public static final class SmallBytes extends NodeSpace {
    /** The heap that a value takes. Its bytes are not there. */
    public static final long HEAP = Footprint.object(1, 2 * Long.BYTES);

    private final ValueMemory memory;

    /** Where the bytes are; {@link ValueMemory#NONE} before they have memory, and after that. */
    private volatile long address = ValueMemory.NONE;

    /** A value of {@code length} bytes, which is above 0, without memory. */
    SmallBytes(ValueMemory memory, int length) {
      this.memory = memory;
      commit(length);
    }

    /** Takes memory for so many bytes, at least those of the value; false when there is none. */
    boolean takeMemory(int room) {
      address = memory.take(room);
      return hasMemory();
    }

    /** True while it has memory. */
    boolean hasMemory() {
      return address != ValueMemory.NONE;
    }

    /** Gives the memory back. Readers that are copying from it look again. */
    void giveMemory() {
      long given = address;
      address = ValueMemory.NONE;
      // Before the next owner writes there.
      VarHandle.storeStoreFence();
      memory.give(given);
    }

    /** Bytes of memory that it takes. */
    public int footprint() {
      return ValueMemory.footprint(memory.capacity(address));
    }

    /**
     * The value with more bytes at its end, in the same memory; readers of this one do not see
     * them. Null when the memory is too short. Under the monitor of the node.
     */
    SmallBytes extended(ByteBuffer more, int offset, int count) {
      int present = length();
      if (present + count > memory.capacity(address)) {
        return null;
      }
      memory.write(address + present, more, offset, count);
      SmallBytes next = new SmallBytes(memory, present + count);
      next.address = address;
      return next;
    }

    /** True when another value is in the same memory. */
    boolean isIn(SmallBytes other) {
      return other != null && address == other.address;
    }

    /** Leaves the memory to a value that is there too. Readers of this one look again. */
    void leaveMemory() {
      address = ValueMemory.NONE;
    }

    /** The number of bytes. */
    public int length() {
      return (int) size();
    }

    /** Writes all bytes, before anybody else knows this. */
    public void write(ByteBuffer in, int offset) {
      memory.write(address, in, offset, length());
    }

    /**
     * Copies all bytes.
     *
     * @return false when the memory was given back meanwhile: the copy is of no use, and the node
     *     has another space by now or is gone
     */
    public boolean copyTo(ByteBuffer out, int offset) {
      long from = address;
      if (from == ValueMemory.NONE) {
        return false;
      }
      memory.read(from, out, offset, length());
      // What was read is from before this.
      VarHandle.loadLoadFence();
      return address == from;
    }

    /** A copy of some of the bytes. Under the monitor of the node, so that they stay. */
    public byte[] bytes(int from, int count) {
      byte[] bytes = new byte[count];
      memory.read(address + from, ByteBuffer.wrap(bytes), 0, count);
      return bytes;
    }

    /** A copy of all bytes. Under the monitor of the node, so that they stay. */
    public byte[] bytes() {
      byte[] bytes = new byte[length()];
      if (!copyTo(ByteBuffer.wrap(bytes), 0)) {
        throw new AssertionError("a value whose memory was given back");
      }
      return bytes;
    }

    @Override
    public SmallBytes small() {
      return this;
    }

    @Override
    public int count() {
      return 0;
    }

    @Override
    public Allocation at(int index) {
      throw new AssertionError("a small value has no extent " + index);
    }
  }
}
