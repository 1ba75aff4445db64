/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The datanodes as one loop reaches them: what the namenode tells of each, memory of this host that
 * is mapped, and connections over a network. What lies where on them is not known here.
 */
package io.crail.client.datanode;
