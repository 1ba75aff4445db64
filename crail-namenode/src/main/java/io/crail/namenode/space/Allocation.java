/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.space;

import io.crail.protocol.part.Extent;
import java.nio.ByteBuffer;

/**
 * An extent that belongs to a node, or waits to be free again. Immutable.
 *
 * <p>It holds as many bytes of the node as space was allocated, unless it was sealed: then the node
 * goes on in another extent, and the space after the seal stays unused until all of it is freed.
 */
public final class Allocation extends NodeSpace {
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

  /** Bytes of the node that it holds or may come to hold. */
  int length() {
    return length;
  }

  /** Bytes of space: a power of two. */
  public int allocatedLength() {
    return allocatedLength;
  }

  /** True when a writer that lost its lease may still write after the end. */
  boolean isSealed() {
    return length < allocatedLength;
  }

  /** The same space, but no byte of the node from {@code fileEnd} on. */
  public Allocation sealedAt(long fileEnd) {
    return new Allocation(
        region,
        regionOffset,
        fileOffset,
        generation,
        (int) (fileEnd - fileOffset),
        allocatedLength);
  }

  /** What lies before {@code fileEnd}, for clients. */
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

  /** Writes what lies before {@code fileEnd}, as on the wire. */
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
