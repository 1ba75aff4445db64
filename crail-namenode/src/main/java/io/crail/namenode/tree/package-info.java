/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tree of nodes: what finds them, how they come, move and go, and what their writers do. Above
 * space and leases, and below what serves requests.
 */
package io.crail.namenode.tree;
