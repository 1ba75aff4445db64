/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

/**
 * What the namenode keeps with a connection after its handshake.
 *
 * @param clientId who is at the other end, the owner of write leases
 * @param lookups scratch memory of lookups
 */
record ClientSession(long clientId, LookupBatch lookups) {}
