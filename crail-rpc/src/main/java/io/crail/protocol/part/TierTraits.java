/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.part;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;

/**
 * What the tier of a datanode can do, and what its clients have to know. The datanode announces it
 * once, when it registers, and the namenode passes it on with the datanode's description.
 * Immutable.
 *
 * @param granularity offset and length of each access to the tier are multiples of this many bytes:
 *     1 for memory, a sector for a block device; a power of two up to {@link Extent#MIN_LENGTH}.
 *     The tier's own endpoint ensures this; users read and write any bytes
 * @param fence what keeps earlier holders of space from accessing it
 * @param drainMillis how long requests of a client that is gone may still be executed. Space rests
 *     that long after the end of a lease, if this is longer than the namenode's own margin
 * @param takesAnyMemory true if the first use of a client's memory costs no more than later ones;
 *     false where memory has to be registered with a device
 * @param directory the directory of the region files on the datanode's host; empty when clients on
 *     that host may not map them
 * @param details what the tier passes to its own clients beyond address and regions, such as the
 *     name of a foreign target; printable, and read only by them
 */
public record TierTraits(
    int granularity,
    FenceKind fence,
    int drainMillis,
    boolean takesAnyMemory,
    Utf8 directory,
    Utf8 details) {
  /** The most bytes of {@link #details}. */
  public static final int MAX_DETAILS_LENGTH = 1024;

  /** The layout. */
  public static final Layout LAYOUT =
      Layout.of("TierTraits")
          .i32("granularity", "offset and length of an access are multiples of this many bytes")
          .struct("fence", FenceKind.CODEC, "what keeps earlier holders from space")
          .i32("drainMillis", "how long requests of a client that is gone may be executed")
          .u8("takesAnyMemory", "whether clients need not register memory; 0 or 1")
          .u16("directoryLength", "bytes of directory")
          .u16("detailsLength", "bytes of details")
          .bytes(
              "directory",
              "directoryLength",
              0,
              TextLimits.REGION_PATH,
              "directory of the region files on its host, empty when they can not be mapped")
          .bytes(
              "details",
              "detailsLength",
              0,
              MAX_DETAILS_LENGTH,
              "what the tier passes to its own clients");

  /** The codec. */
  public static final Codec<TierTraits> CODEC = Codec.of(TierTraits.class, LAYOUT);

  /** The traits of byte-addressable memory. */
  public static TierTraits ofMemory(FenceKind fence, boolean takesAnyMemory, String directory) {
    return new TierTraits(1, fence, 0, takesAnyMemory, Utf8.of(directory), Utf8.EMPTY);
  }

  /** Whether each request is checked against the generation of the space. */
  public boolean checksGeneration() {
    return fence == FenceKind.GENERATION;
  }
}
