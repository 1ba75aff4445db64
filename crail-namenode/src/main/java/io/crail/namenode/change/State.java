/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.change;

import io.crail.namenode.lease.LeaseTable;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.Allocator;
import io.crail.namenode.space.Datanodes;
import io.crail.namenode.space.HostNames;
import io.crail.namenode.space.RestingMoves;
import io.crail.namenode.space.SmallValues;
import io.crail.namenode.tree.Node;
import io.crail.namenode.tree.Tree;
import io.crail.namenode.user.UserNames;

/**
 * What a namenode keeps for its clients. Rules read it; the {@link Applier} and the {@link
 * DatanodeApplier} change it.
 *
 * @param tree the nodes
 * @param leases the write leases of clients
 * @param datanodes the datanodes and what they lend
 * @param space gives out the space of the datanodes
 * @param moves the former extents of nodes whose bytes were moved
 * @param values the account of small values
 * @param hosts the numbers of hosts
 * @param users the numbers of users and groups
 * @param budget the account of the heap that all of this takes
 */
public record State(
    Tree tree,
    LeaseTable<Node> leases,
    Datanodes datanodes,
    Allocator space,
    RestingMoves moves,
    SmallValues values,
    HostNames hosts,
    UserNames users,
    HeapBudget budget) {}
