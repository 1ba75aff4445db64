/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import java.util.Set;

/**
 * Who asks: what the login of a connection has ended in. Rules of a namenode and servers of tiers
 * are given it, so that they need not believe what a request says of its sender. Immutable.
 *
 * @param principal whom the server takes it for
 * @param client the id of the client, which owns write leases and may be cut off from data
 * @param rights what it may ask for
 */
public record Caller(Principal principal, long client, Set<Right> rights) {
  /** Copies the rights. */
  public Caller {
    rights = Set.copyOf(rights);
  }
}
