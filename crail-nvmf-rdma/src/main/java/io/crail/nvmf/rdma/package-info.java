/* SPDX-License-Identifier: Apache-2.0 */
/** NVMe over RDMA: queues whose data the target reads and writes in this host's memory. */
package io.crail.nvmf.rdma;
