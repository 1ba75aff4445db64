/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Renews all write leases of a client, and tells which of those that it names are no longer its
 * own. A client may rely on the renewal of the others that it has named, and of no lease that it
 * has not.
 */
public final class RenewLeases {
  /** Most leases that a request names; who has more asks several times. */
  public static final int MAX_LEASES = 1024;

  private RenewLeases() {}

  /**
   * A write lease.
   *
   * @param id node id
   * @param token the write lease
   */
  public record Lease(long id, long token) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Lease").i64("id", "node id").i64("token", "the write lease");

    private static final int ID = LAYOUT.offset("id");
    private static final int TOKEN = LAYOUT.offset("token");
  }

  /**
   * The request.
   *
   * @param clientId the client
   * @param leases those that it writes under
   */
  public record Request(long clientId, List<Lease> leases) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Request")
            .i64("clientId", "the client")
            .u16("leaseCount", "number of leases")
            .list("leases", "leaseCount", Lease.LAYOUT, MAX_LEASES);

    static final int CLIENT_ID = LAYOUT.offset("clientId");
    static final int LEASE_COUNT = LAYOUT.offset("leaseCount");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Request message) {
            return LAYOUT.fixedLength() + message.leases.size() * Lease.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Request message, ByteBuffer out, int offset) {
            out.putLong(offset + CLIENT_ID, message.clientId);
            out.putShort(offset + LEASE_COUNT, (short) message.leases.size());
            int at = offset + LAYOUT.fixedLength();
            for (Lease lease : message.leases) {
              out.putLong(at + Lease.ID, lease.id);
              out.putLong(at + Lease.TOKEN, lease.token);
              at += Lease.LAYOUT.fixedLength();
            }
          }

          @Override
          protected Request read(ByteBuffer in, int offset) {
            int count = in.getShort(offset + LEASE_COUNT) & 0xffff;
            List<Lease> leases = new ArrayList<>(count);
            int at = offset + LAYOUT.fixedLength();
            for (int i = 0; i < count; i++) {
              leases.add(new Lease(in.getLong(at + Lease.ID), in.getLong(at + Lease.TOKEN)));
              at += Lease.LAYOUT.fixedLength();
            }
            return new Request(in.getLong(offset + CLIENT_ID), List.copyOf(leases));
          }
        };
  }

  /**
   * A lease that the client has no longer.
   *
   * @param index which lease of the request
   * @param error number of the error that a write under it gets
   */
  public record Lost(int index, int error) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Lost")
            .u16("index", "which lease of the request, from 0")
            .u16("error", "the error that a write under it gets");

    private static final int INDEX = LAYOUT.offset("index");
    private static final int ERROR = LAYOUT.offset("error");
  }

  /**
   * The answer.
   *
   * @param lost leases of the request that the client has no longer
   */
  public record Response(List<Lost> lost) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Response")
            .u16("lostCount", "number of leases that are lost")
            .list("lost", "lostCount", Lost.LAYOUT, MAX_LEASES);

    static final int LOST_COUNT = LAYOUT.offset("lostCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.lost.size() * Lost.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putShort(offset + LOST_COUNT, (short) message.lost.size());
            int at = offset + LAYOUT.fixedLength();
            for (Lost lost : message.lost) {
              out.putShort(at + Lost.INDEX, (short) lost.index);
              out.putShort(at + Lost.ERROR, (short) lost.error);
              at += Lost.LAYOUT.fixedLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int count = in.getShort(offset + LOST_COUNT) & 0xffff;
            List<Lost> lost = new ArrayList<>(count);
            int at = offset + LAYOUT.fixedLength();
            for (int i = 0; i < count; i++) {
              lost.add(
                  new Lost(
                      in.getShort(at + Lost.INDEX) & 0xffff,
                      in.getShort(at + Lost.ERROR) & 0xffff));
              at += Lost.LAYOUT.fixedLength();
            }
            return new Response(List.copyOf(lost));
          }
        };
  }
}
