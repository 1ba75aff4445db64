/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A run of a node's bytes and where it is.
 *
 * @param fileOffset position of its first byte in the node
 * @param generation changes whenever the space is given to another node; a tier that checks it
 *     refuses stale requests
 * @param regionOffset where the extent begins in its region, in bytes
 * @param length bytes
 * @param datanode the datanode's id
 * @param region the region's index at that datanode
 */
public record Extent(
    long fileOffset, long generation, long regionOffset, int length, int datanode, int region) {
  /**
   * Bytes of the smallest extent. The space of every extent is a power of two times this, begins at
   * a multiple of its own length, and is within one block. A tier keeps one generation for each
   * unit of this length. An extent may hold fewer bytes of the node than its space: readers see
   * only the committed ones, and after a writer has lost its lease the node continues in another
   * extent.
   */
  public static final int MIN_LENGTH = 4096;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Extent")
          .i64("fileOffset", "position in the node")
          .i64("generation", "generation of the space")
          .i64("regionOffset", "position in the region")
          .i32("length", "bytes")
          .i32("datanode", "datanode id")
          .i32("region", "index of the region at the datanode");

  /** The codec. It is written by hand because lookups use it. */
  public static final Codec<Extent> CODEC =
      new Codec<>(Extent.class, LAYOUT) {
        @Override
        public void encode(Extent message, ByteBuffer out, int offset) {
          message.encode(out, offset);
        }

        @Override
        public Extent read(ByteBuffer in, int offset) {
          return Extent.read(in, offset);
        }
      };

  /** Bytes of one on the wire. */
  public static final int WIRE_LENGTH = LAYOUT.fixedLength();

  private static final int FILE_OFFSET = LAYOUT.offset("fileOffset");
  private static final int GENERATION = LAYOUT.offset("generation");
  private static final int REGION_OFFSET = LAYOUT.offset("regionOffset");
  private static final int LENGTH = LAYOUT.offset("length");
  private static final int DATANODE = LAYOUT.offset("datanode");
  private static final int REGION = LAYOUT.offset("region");

  /** The position after its last byte. */
  public long fileEnd() {
    return fileOffset + length;
  }

  /** The part before a position of the node, which is after the first byte. */
  public Extent before(long end) {
    return end >= fileEnd()
        ? this
        : new Extent(
            fileOffset, generation, regionOffset, (int) (end - fileOffset), datanode, region);
  }

  /** Writes this. */
  public void encode(ByteBuffer out, int offset) {
    encode(out, offset, fileOffset, generation, regionOffset, length, datanode, region);
  }

  /** Writes the fields of an extent without making a record of them. */
  public static void encode(
      ByteBuffer out,
      int offset,
      long fileOffset,
      long generation,
      long regionOffset,
      int length,
      int datanode,
      int region) {
    out.putLong(offset + FILE_OFFSET, fileOffset);
    out.putLong(offset + GENERATION, generation);
    out.putLong(offset + REGION_OFFSET, regionOffset);
    out.putInt(offset + LENGTH, length);
    out.putInt(offset + DATANODE, datanode);
    out.putInt(offset + REGION, region);
  }

  /**
   * The length of the shortest extent for this many bytes: a power of two, at most a block.
   *
   * @param bytes from 1 to the length of a block
   */
  public static int lengthFor(int bytes, int blockSize) {
    int power = bytes <= MIN_LENGTH ? MIN_LENGTH : Integer.highestOneBit(bytes - 1) << 1;
    return Math.min(power, blockSize);
  }

  /** Reads one. */
  public static Extent read(ByteBuffer in, int offset) {
    return new Extent(
        in.getLong(offset + FILE_OFFSET),
        in.getLong(offset + GENERATION),
        in.getLong(offset + REGION_OFFSET),
        in.getInt(offset + LENGTH),
        in.getInt(offset + DATANODE),
        in.getInt(offset + REGION));
  }

  /** Writes several, one after the other. */
  public static void encodeAll(List<Extent> extents, ByteBuffer out, int offset) {
    int at = offset;
    for (Extent extent : extents) {
      extent.encode(out, at);
      at += WIRE_LENGTH;
    }
  }

  /** Reads several. */
  public static List<Extent> readAll(ByteBuffer in, int offset, int count) {
    if (count == 0) {
      return List.of();
    }
    if (count == 1) {
      return List.of(read(in, offset));
    }
    List<Extent> extents = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      extents.add(read(in, offset + i * WIRE_LENGTH));
    }
    return List.copyOf(extents);
  }
}
