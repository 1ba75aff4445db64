/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Users and groups: the numbers of their names, and the users of connections. What has an owner is
 * the tree's matter.
 */
package io.crail.namenode.user;
