/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.namenode.memory.Footprint;
import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;

/**
 * An extent that belongs to a node, or waits to become free. Immutable.
 *
 * <p>It holds as many bytes of the node as space was allocated, unless it was sealed. After a seal
 * the node continues in another extent, and the space after the seal stays unused until the whole
 * extent is freed.
 */
public final class Allocation extends NodeSpace {
  /** Bytes of heap of an extent, of its place in a list, and of its rest in the quarantine. */
  public static final long FOOTPRINT =
      Footprint.object(1, 40) + 4L * Footprint.REFERENCE + Quarantine.REST_FOOTPRINT;

  private final RegionSpace region;
  private final long regionOffset;
  private final long fileOffset;
  private final long generation;
  private final int length;
  private final int allocatedLength;

  Allocation(RegionSpace region, long regionOffset, long fileOffset, long generation, int length) {
    this(region, regionOffset, fileOffset, generation, length, length);
  }

  private Allocation(
      RegionSpace region,
      long regionOffset,
      long fileOffset,
      long generation,
      int length,
      int allocatedLength) {
    this.region = region;
    this.regionOffset = regionOffset;
    this.fileOffset = fileOffset;
    this.generation = generation;
    this.length = length;
    this.allocatedLength = allocatedLength;
  }

  public RegionSpace region() {
    return region;
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
  int length() {
    return length;
  }

  /** The length of its space in bytes, a power of two. */
  public int allocatedLength() {
    return allocatedLength;
  }

  /** True when a writer that lost its lease may still write after the end. */
  boolean isSealed() {
    return length < allocatedLength;
  }

  /** True when it is the same space as another one, of which it may hold fewer bytes. */
  public boolean isIn(Allocation other) {
    return region == other.region
        && regionOffset == other.regionOffset
        && generation == other.generation
        && fileOffset == other.fileOffset;
  }

  /** The same space, sealed: it holds no byte of the node from {@code fileEnd} on. */
  public Allocation sealedAt(long fileEnd) {
    return new Allocation(
        region,
        regionOffset,
        fileOffset,
        generation,
        (int) (fileEnd - fileOffset),
        allocatedLength);
  }

  /** The part before {@code fileEnd}, for clients. */
  public Extent extentBefore(long fileEnd) {
    return new Extent(
        fileOffset,
        generation,
        regionOffset,
        lengthBefore(fileEnd),
        region.datanode().id(),
        region.index());
  }

  private int lengthBefore(long fileEnd) {
    return (int) Math.min(length, fileEnd - fileOffset);
  }

  public Extent extent() {
    return new Extent(
        fileOffset, generation, regionOffset, length, region.datanode().id(), region.index());
  }

  /** Writes the part before {@code fileEnd} in the form of the wire. */
  void encode(long fileEnd, ByteBuffer out, int offset) {
    Extent.encode(
        out,
        offset,
        fileOffset,
        generation,
        regionOffset,
        lengthBefore(fileEnd),
        region.datanode().id(),
        region.index());
  }

  @Override
  public int count() {
    return 1;
  }

  @Override
  public Allocation at(int index) {
    return this;
  }

  @Override
  public NodeSpace with(Allocation next) {
    return new AllocationList(this, next);
  }
}
