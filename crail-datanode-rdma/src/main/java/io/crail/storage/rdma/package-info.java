/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The RDMA tier: a server that registers its regions and then stays out of the way, and the
 * client's endpoint that reads and writes them one-sided. Queue pairs, devices and the connection
 * manager belong to {@code io.crail.rpc.rdma}.
 */
package io.crail.storage.rdma;
