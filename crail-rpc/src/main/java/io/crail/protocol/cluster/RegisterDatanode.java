/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.cluster;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.TextLimits;
import io.crail.protocol.part.TierTraits;
import java.util.UUID;

/** Registers a datanode. The same incarnation keeps its id. */
public final class RegisterDatanode {
  private RegisterDatanode() {}

  /**
   * The request.
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
  public record Request(
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
        Layout.of("RegisterDatanode.Request")
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
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The identity of the datanode process. */
    public UUID uuid() {
      return new UUID(uuidHigh, uuidLow);
    }

    /** Whether this is the same datanode with the same values, whatever has become of it. */
    public boolean describesAs(Request other) {
      return withoutFate().equals(other.withoutFate());
    }

    private Request withoutFate() {
      return new Request(uuidHigh, uuidLow, storageClass, port, false, false, tier, host, traits);
    }

    /** Whether another datanode lends the same foreign devices. */
    public boolean hasDevicesOf(Request other) {
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
