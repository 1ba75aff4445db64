/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.tree.LookupBatch;
import io.crail.namenode.tree.NewNode;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.cluster.Hello;

/**
 * The namenode's data for a connection after its handshake.
 *
 * @param role {@link Hello#ROLE_CLIENT} or {@link Hello#ROLE_DATANODE}
 * @param clientId the client at the other end, which owns write leases
 * @param user the owner of the nodes that the client creates
 * @param lookups scratch memory of lookups
 * @param activity counts what the client does
 * @param made the object that each create or put of the client is read into
 */
record ClientSession(
    int role,
    long clientId,
    SessionUser user,
    LookupBatch lookups,
    ClientActivity activity,
    NewNode made) {}
