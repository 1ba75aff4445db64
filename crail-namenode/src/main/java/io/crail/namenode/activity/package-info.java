/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What clients do at a namenode: counters of each connection, and the nodes that are asked for
 * most. Counting never waits and allocates nothing. It knows node ids, but no nodes.
 */
package io.crail.namenode.activity;
