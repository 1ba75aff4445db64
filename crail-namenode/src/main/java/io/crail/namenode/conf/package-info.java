/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The configuration of a namenode: its keys, their values, and the policy that chooses datanodes.
 */
package io.crail.namenode.conf;
