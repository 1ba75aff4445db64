/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Hard limits of bytes and names for directories: the accounts, and what decisions take of them. It
 * knows the space of nodes, but neither nodes nor rules.
 */
package io.crail.namenode.quota;
