/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
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

    /** The codec. */
    public static final Codec<Lease> CODEC = Codec.of(Lease.class, LAYOUT);
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
            .list("leases", "leaseCount", Lease.CODEC, MAX_LEASES);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
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

    /** The codec. */
    public static final Codec<Lost> CODEC = Codec.of(Lost.class, LAYOUT);
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
            .list("lost", "lostCount", Lost.CODEC, MAX_LEASES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
