/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Independent;
import io.crail.protocol.codec.Layout;
import java.util.List;

/**
 * Renews write leases of a client. The client names them, and the answer says which of these it has
 * lost. All others that it named are renewed. A lease that is not named runs out.
 */
public final class RenewLeases {
  /** Most leases that a request names. A client with more leases sends several requests. */
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
   * @param leases those under which the caller writes
   */
  public record Request(List<Lease> leases) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Request")
            .u16("leaseCount", "number of leases")
            .list("leases", "leaseCount", Lease.CODEC, MAX_LEASES);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);
  }

  /**
   * A lease that the client has lost.
   *
   * @param index which lease of the request
   * @param error number of the error that a write under this lease gets
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
   * @param lost leases of the request that the client has lost
   */
  public record Response(List<Lost> lost) implements Independent {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("RenewLeases.Response")
            .u16("lostCount", "number of leases that are lost")
            .list("lost", "lostCount", Lost.CODEC, MAX_LEASES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);

    @Override
    public boolean isIndependent() {
      // Who has lost a lease may have lost it to a change.
      return lost.isEmpty();
    }
  }
}
