/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.login;

import io.crail.common.Utf8;

/**
 * What a peer says of itself in the first message of a login. A mechanism proves it, takes it for
 * granted, or decides otherwise.
 *
 * @param principal whom it claims to be
 * @param client the id of the client
 * @param peer distinguishes the connections that the client has at a time; a connection that takes
 *     the place of a lost one has the same number
 * @param patienceMillis how long after a loss the client may send requests again
 * @param host the name of its host, for reports; empty if it has named none
 */
public record Claim(Principal principal, long client, long peer, int patienceMillis, Utf8 host) {
  /** The claim that opens a data connection. */
  public static Claim ofClient(long client) {
    return new Claim(Principal.ANYBODY, client, 0, 0, Utf8.EMPTY);
  }
}
