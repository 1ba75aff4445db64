/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.query.LookupBatch;
import io.crail.namenode.rule.CreateRule;
import io.crail.namenode.rule.NewNode;
import io.crail.namenode.user.SessionUser;

/**
 * The namenode's data for a connection after its handshake.
 *
 * @param user who asks, as the owner of nodes
 * @param lookups scratch memory of lookups
 * @param activity counts what the client does
 * @param made the object that each create or put of the client is read into
 * @param creates decides them
 */
record ClientSession(
    SessionUser user,
    LookupBatch lookups,
    ClientActivity activity,
    NewNode made,
    CreateRule creates) {
  /** The data of a new connection. */
  static ClientSession of(NameNode namenode, SessionUser user, ClientActivity activity) {
    NameNodeOptions options = namenode.options();
    return new ClientSession(
        user,
        new LookupBatch(
            namenode.tree(), options.index(), options.count(), activity, namenode.clock()),
        activity,
        new NewNode(),
        namenode.createRule(user));
  }
}
