/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.Utf8;

/**
 * Who a caller is, as far as the server knows. The mechanism of the login decides how well that is
 * proved.
 *
 * @param role what it takes part as
 * @param name its name; empty if it has none
 */
public record Principal(Role role, Utf8 name) {
  /** A peer that is known only by the id of its client. */
  public static final Principal ANYBODY = new Principal(Role.ANYBODY, Utf8.EMPTY);

  /** The part that a peer takes in a cluster. */
  public enum Role {
    /** Uses the store, or operates it. */
    CLIENT,
    /** Lends space. */
    DATANODE,
    /** Keeps a part of the namespace. */
    NAMENODE,
    /** Has named no role. */
    ANYBODY
  }
}
