/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tree of nodes: how they are found, made, moved and removed, and what their writers do. Uses
 * space and leases; the classes that serve requests use it.
 */
package io.crail.namenode.tree;
