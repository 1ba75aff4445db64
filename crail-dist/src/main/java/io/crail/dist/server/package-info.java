/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commands that run a server of the cluster until the process is told to end: namenode and
 * datanode.
 */
package io.crail.dist.server;
