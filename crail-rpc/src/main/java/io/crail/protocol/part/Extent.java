/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.error.CrailException;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;

/**
 * A run of a node's bytes and where it is. The bytes are the same at each of its places. Today an
 * extent has one place, and no checksum. Immutable.
 *
 * <p>Lookups make extents by the million. So an extent has the fields of its place in itself, and
 * only one with copies or a checksum is larger.
 */
public sealed class Extent {
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
          return ONE_PLACE + message.copies().size() * PLACE_LENGTH;
        }

        @Override
        public void encode(Extent message, ByteBuffer out, int offset) {
          Extent.encode(
              out,
              offset,
              message.fileOffset,
              message.length,
              message.datanode,
              message.region,
              message.regionOffset,
              message.generation);
          Checksum.CODEC.encode(message.checksum(), out, offset + CHECKSUM);
          out.put(offset + COPIES_COUNT, (byte) message.copies().size());
          Place.CODEC.encodeAll(message.copies(), out, offset + ONE_PLACE);
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
          Checksum checksum = Checksum.CODEC.read(in, offset + CHECKSUM);
          if (copies == 0 && checksum == Checksum.NONE) {
            return new Extent(
                in.getLong(offset + FILE_OFFSET),
                in.getInt(offset + LENGTH),
                in.getInt(offset + PLACE + Place.DATANODE),
                in.getInt(offset + PLACE + Place.REGION),
                in.getLong(offset + PLACE + Place.OFFSET),
                in.getLong(offset + PLACE + Place.GENERATION));
          }
          return Extent.of(
              in.getLong(offset + FILE_OFFSET),
              in.getInt(offset + LENGTH),
              checksum,
              Place.CODEC.read(in, offset + PLACE),
              Place.CODEC.decodeAll(in, offset + ONE_PLACE, copies, copies * PLACE_LENGTH));
        }
      };

  private static final int FILE_OFFSET = LAYOUT.offset("fileOffset");
  private static final int LENGTH = LAYOUT.offset("length");
  private static final int CHECKSUM = LAYOUT.offset("checksum");
  private static final int PLACE = LAYOUT.offset("place");
  private static final int COPIES_COUNT = LAYOUT.offset("copiesCount");
  private static final int PLACE_LENGTH = Place.LAYOUT.fixedLength();

  private final long fileOffset;
  private final int length;
  private final int datanode;
  private final int region;
  private final long regionOffset;
  private final long generation;

  /**
   * Creates an extent with one place and without a checksum.
   *
   * @param fileOffset position of its first byte in the node
   * @param length bytes
   */
  public Extent(long fileOffset, int length, Place place) {
    this(fileOffset, length, place.datanode(), place.region(), place.offset(), place.generation());
  }

  private Extent(
      long fileOffset, int length, int datanode, int region, long regionOffset, long generation) {
    this.fileOffset = fileOffset;
    this.length = length;
    this.datanode = datanode;
    this.region = region;
    this.regionOffset = regionOffset;
    this.generation = generation;
  }

  /**
   * An extent with whatever it can have.
   *
   * @param fileOffset position of its first byte in the node
   * @param length bytes
   * @param checksum of all its bytes
   * @param place the place to use. A client that prefers another one puts that here, and this among
   *     the copies
   * @param copies the other places
   */
  public static Extent of(
      long fileOffset, int length, Checksum checksum, Place place, List<Place> copies) {
    return copies.isEmpty() && checksum.equals(Checksum.NONE)
        ? new Extent(fileOffset, length, place)
        : new Redundant(fileOffset, length, checksum, place, copies);
  }

  /** The position of its first byte in the node. */
  public final long fileOffset() {
    return fileOffset;
  }

  /** The number of its bytes. */
  public final int length() {
    return length;
  }

  /** The datanode of the place to use. */
  public final int datanode() {
    return datanode;
  }

  /** The region of the place to use. */
  public final int region() {
    return region;
  }

  /** Where the place to use begins in its region, in bytes. */
  public final long regionOffset() {
    return regionOffset;
  }

  /** The generation of the place to use. */
  public final long generation() {
    return generation;
  }

  /** The place to use. Makes an object, so a hot path asks for a field of it instead. */
  public final Place place() {
    return new Place(datanode, region, regionOffset, generation);
  }

  /** The checksum of all its bytes. */
  public Checksum checksum() {
    return Checksum.NONE;
  }

  /** The other places. */
  public List<Place> copies() {
    return List.of();
  }

  /** The position after its last byte. */
  public final long fileEnd() {
    return fileOffset + length;
  }

  /** The part before a position of the node, which is after the first byte. */
  public final Extent before(long end) {
    return end >= fileEnd()
        ? this
        : of(fileOffset, (int) (end - fileOffset), Checksum.NONE, place(), copies());
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

  @Override
  public final boolean equals(Object other) {
    return other instanceof Extent that
        && fileOffset == that.fileOffset
        && length == that.length
        && place().equals(that.place())
        && checksum().equals(that.checksum())
        && copies().equals(that.copies());
  }

  @Override
  public final int hashCode() {
    return Objects.hash(fileOffset, length, place(), checksum(), copies());
  }

  @Override
  public final String toString() {
    return "Extent[fileOffset="
        + fileOffset
        + ", length="
        + length
        + ", "
        + checksum()
        + ", "
        + place()
        + ", copies="
        + copies()
        + "]";
  }

  /** An extent with a checksum or copies. */
  private static final class Redundant extends Extent {
    private final Checksum checksum;
    private final List<Place> copies;

    private Redundant(
        long fileOffset, int length, Checksum checksum, Place place, List<Place> copies) {
      super(fileOffset, length, place);
      this.checksum = checksum;
      this.copies = List.copyOf(copies);
      if (copies.size() >= MAX_PLACES) {
        throw new IllegalArgumentException("an extent with " + (1 + copies.size()) + " places");
      }
    }

    @Override
    public Checksum checksum() {
      return checksum;
    }

    @Override
    public List<Place> copies() {
      return copies;
    }
  }
}
