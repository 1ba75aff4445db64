/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.tree.LookupBatch;
import io.crail.namenode.tree.NewNode;
import io.crail.protocol.cluster.Hello;

/**
 * What the namenode keeps with a connection after its handshake.
 *
 * @param role {@link Hello#ROLE_CLIENT} or {@link Hello#ROLE_DATANODE}
 * @param clientId who is at the other end, the owner of write leases
 * @param user whom the nodes that it creates belong to
 * @param lookups scratch memory of lookups
 * @param made what a create or put of it is read into
 */
record ClientSession(
    int role, long clientId, SessionUser user, LookupBatch lookups, NewNode made) {}
