/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A run of a node's bytes and where it is. The bytes are the same at each of its places. Today an
 * extent has one place, and no checksum.
 *
 * @param fileOffset position of its first byte in the node
 * @param length bytes
 * @param checksum of all its bytes
 * @param place the place to use. A client that prefers another one puts that here, and this among
 *     the copies
 * @param copies the other places
 */
public record Extent(
    long fileOffset, int length, Checksum checksum, Place place, List<Place> copies) {
  /**
   * Bytes of the smallest extent. The space of every extent is a power of two times this, begins at
   * a multiple of its own length, and is within one block. A tier keeps one generation for each
   * unit of this length. An extent may hold fewer bytes of the node than its space: readers see
   * only the committed ones, and after a writer has lost its lease the node continues in another
   * extent.
   */
  public static final int MIN_LENGTH = 4096;

  /** Most places of an extent. */
  public static final int MAX_PLACES = 4;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("Extent")
          .i64("fileOffset", "position in the node")
          .i32("length", "bytes")
          .struct("checksum", Checksum.CODEC)
          .struct("place", Place.CODEC, "the place to use")
          .u8("copiesCount", "number of other places")
          .list("copies", "copiesCount", Place.CODEC, MAX_PLACES - 1);

  /** Bytes on the wire of an extent with one place. */
  public static final int ONE_PLACE = LAYOUT.fixedLength();

  /** The codec. It is written by hand because lookups use it. */
  public static final Codec<Extent> CODEC =
      new Codec<>(Extent.class, LAYOUT) {
        @Override
        public int length(Extent message) {
          return ONE_PLACE + message.copies.size() * PLACE_LENGTH;
        }

        @Override
        public void encode(Extent message, ByteBuffer out, int offset) {
          out.putLong(offset + FILE_OFFSET, message.fileOffset);
          out.putInt(offset + LENGTH, message.length);
          Checksum.CODEC.encode(message.checksum, out, offset + CHECKSUM);
          Place.CODEC.encode(message.place, out, offset + PLACE);
          out.put(offset + COPIES_COUNT, (byte) message.copies.size());
          Place.CODEC.encodeAll(message.copies, out, offset + ONE_PLACE);
        }

        @Override
        protected int checkedLengthAt(ByteBuffer in, int offset, int left) throws CrailException {
          return left >= ONE_PLACE && in.get(offset + COPIES_COUNT) == 0
              ? ONE_PLACE
              : super.checkedLengthAt(in, offset, left);
        }

        @Override
        public Extent read(ByteBuffer in, int offset) throws CrailException {
          int copies = in.get(offset + COPIES_COUNT) & 0xff;
          return new Extent(
              in.getLong(offset + FILE_OFFSET),
              in.getInt(offset + LENGTH),
              Checksum.CODEC.read(in, offset + CHECKSUM),
              Place.read(in, offset + PLACE),
              copies == 0
                  ? List.of()
                  : Place.CODEC.decodeAll(in, offset + ONE_PLACE, copies, copies * PLACE_LENGTH));
        }
      };

  private static final int FILE_OFFSET = LAYOUT.offset("fileOffset");
  private static final int LENGTH = LAYOUT.offset("length");
  private static final int CHECKSUM = LAYOUT.offset("checksum");
  private static final int PLACE = LAYOUT.offset("place");
  private static final int COPIES_COUNT = LAYOUT.offset("copiesCount");
  private static final int PLACE_LENGTH = Place.LAYOUT.fixedLength();

  /** Checks the number of places. */
  public Extent {
    copies = List.copyOf(copies);
    if (copies.size() >= MAX_PLACES) {
      throw new IllegalArgumentException("an extent with " + (1 + copies.size()) + " places");
    }
  }

  /** An extent with one place and without a checksum. */
  public Extent(long fileOffset, int length, Place place) {
    this(fileOffset, length, Checksum.NONE, place, List.of());
  }

  /** The position after its last byte. */
  public long fileEnd() {
    return fileOffset + length;
  }

  /** The part before a position of the node, which is after the first byte. */
  public Extent before(long end) {
    return end >= fileEnd()
        ? this
        : new Extent(fileOffset, (int) (end - fileOffset), Checksum.NONE, place, copies);
  }

  /**
   * Writes the fields of an extent with one place, without a checksum, and without making a record
   * of them.
   */
  public static void encode(
      ByteBuffer out,
      int at,
      long fileOffset,
      int length,
      int datanode,
      int region,
      long offset,
      long generation) {
    out.putLong(at + FILE_OFFSET, fileOffset);
    out.putInt(at + LENGTH, length);
    Checksum.CODEC.encode(Checksum.NONE, out, at + CHECKSUM);
    Place.encode(out, at + PLACE, datanode, region, offset, generation);
    out.put(at + COPIES_COUNT, (byte) 0);
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
}
