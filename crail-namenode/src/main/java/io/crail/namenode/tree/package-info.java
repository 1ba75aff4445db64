/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tree of nodes: what finds them, what a path leads to, and what their writers do. Above space
 * and leases.
 */
package io.crail.namenode.tree;
