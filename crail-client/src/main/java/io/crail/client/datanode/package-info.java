/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The datanodes as one loop reaches them: what the namenode knows of each, memory of this host that
 * is mapped, and connections over a network. This package does not know what is where on them.
 */
package io.crail.client.datanode;
