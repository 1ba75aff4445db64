/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The metadata service: its server and sessions. The packages below hold the tree of nodes, the
 * space that datanodes lend, the leases of writers, and the configuration. The classes that decide
 * are pure: clock, randomness and transport are passed in, and the only thread is the timer of
 * {@link io.crail.namenode.NameNodeServer}. No byte of a file passes through here.
 *
 * <p>Locks are taken in this order: the move lock, containers by ascending node id, a node with
 * bytes, the rename sequence, a segment of a table. Under the monitor of a node, these follow: a
 * client's leases, the quarantine, a datanode. Lookups take none of these locks.
 */
package io.crail.namenode;
