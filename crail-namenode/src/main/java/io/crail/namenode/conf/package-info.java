/* SPDX-License-Identifier: Apache-2.0 */
/** What a namenode is told: its keys, their values, and the policy that chooses datanodes. */
package io.crail.namenode.conf;
