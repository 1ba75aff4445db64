/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands that run a server of the cluster until the process is asked to end: namenode and
 * datanode.
 */
package io.crail.tool.server;
