/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;
import io.crail.protocol.part.TierTraits;
import java.util.UUID;

/**
 * Registers a datanode. The same process keeps its id, and so does a process that has the bytes of
 * an earlier one.
 */
public final class RegisterDatanode {
  /** In place of an identity of bytes, of a datanode that keeps none. */
  public static final UUID KEEPS_NOTHING = new UUID(0, 0);

  private RegisterDatanode() {}

  /**
   * The request.
   *
   * @param keeperHigh identity of the bytes, which stays the same over starts of the process, upper
   *     half; {@link #KEEPS_NOTHING} if the datanode does not keep them
   * @param keeperLow the lower half
   * @param start how many processes have had these bytes so far, this one included; 0 if it does
   *     not keep them
   * @param description the datanode
   */
  public record Request(long keeperHigh, long keeperLow, long start, Description description) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterDatanode.Request")
            .i64("keeperHigh", "identity of the bytes that it keeps, upper half; 0 for none")
            .i64("keeperLow", "identity of the bytes that it keeps, lower half")
            .i64("start", "how many processes have had these bytes; 0 if it keeps none")
            .u16("descriptionLength", "bytes of the description")
            .part("description", "descriptionLength", Description.CODEC, "the datanode");

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** That of a datanode which keeps nothing. */
    public Request(
        long uuidHigh,
        long uuidLow,
        int storageClass,
        int port,
        boolean draining,
        boolean lentBefore,
        Utf8 tier,
        Utf8 host,
        TierTraits traits) {
      this(
          KEEPS_NOTHING,
          0,
          new Description(
              uuidHigh, uuidLow, storageClass, port, draining, lentBefore, tier, host, traits));
    }

    /** That of a datanode which may keep its bytes. */
    public Request(UUID keeper, long start, Description description) {
      this(keeper.getMostSignificantBits(), keeper.getLeastSignificantBits(), start, description);
    }

    /** The identity of the bytes. */
    public UUID keeper() {
      return new UUID(keeperHigh, keeperLow);
    }

    /** Whether the datanode keeps its bytes. */
    public boolean keeps() {
      return !keeper().equals(KEEPS_NOTHING);
    }
  }

  /**
   * What a datanode says of itself.
   *
   * @param uuidHigh identity of the datanode process, upper half
   * @param uuidLow identity of the datanode process, lower half
   * @param storageClass storage class that it serves
   * @param port port on which its tier serves
   * @param draining whether it was being removed at an earlier start of the namenode
   * @param lentBefore whether an earlier start of the namenode had its space, so that the nodes of
   *     that one are gone
   * @param tier name of its tier
   * @param host name or address under which clients reach it
   * @param traits what its tier can do
   */
  public record Description(
      long uuidHigh,
      long uuidLow,
      int storageClass,
      int port,
      boolean draining,
      boolean lentBefore,
      Utf8 tier,
      Utf8 host,
      TierTraits traits) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterDatanode.Description")
            .i64("uuidHigh", "identity of the datanode process, upper half")
            .i64("uuidLow", "identity of the datanode process, lower half")
            .i32("storageClass", "storage class that it serves")
            .i32("port", "port that its tier serves on")
            .u8("draining", "whether it was being removed before the namenode restarted; 0 or 1")
            .u8("lentBefore", "whether an earlier start of the namenode had its space; 0 or 1")
            .u16("tierLength", "bytes of tier")
            .u16("hostLength", "bytes of host")
            .u16("traitsLength", "bytes of traits")
            .bytes("tier", "tierLength", 1, TextLimits.TIER, "name of its tier")
            .bytes(
                "host",
                "hostLength",
                1,
                TextLimits.HOST,
                "name or address that clients reach it by")
            .part("traits", "traitsLength", TierTraits.CODEC, "what its tier can do");

    /** The codec. */
    public static final Codec<Description> CODEC = Codec.of(Description.class, LAYOUT);

    /** The identity of the datanode process. */
    public UUID uuid() {
      return new UUID(uuidHigh, uuidLow);
    }

    /** Whether this is the same datanode with the same values, whatever has become of it. */
    public boolean describesAs(Description other) {
      return withoutFate().equals(other.withoutFate());
    }

    private Description withoutFate() {
      return new Description(
          uuidHigh, uuidLow, storageClass, port, false, false, tier, host, traits);
    }

    /** Whether another datanode lends the same foreign devices. */
    public boolean hasDevicesOf(Description other) {
      return traits.details().length() > 0
          && traits.details().equals(other.traits.details())
          && tier.equals(other.tier);
    }
  }

  /**
   * The answer.
   *
   * @param datanode datanode id
   */
  public record Response(int datanode) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RegisterDatanode.Response").i32("datanode", "datanode id");

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
