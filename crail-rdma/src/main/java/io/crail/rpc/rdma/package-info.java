/* SPDX-License-Identifier: Apache-2.0 */
/**
 * RDMA for everything that speaks it: devices and registered memory, the completion queues of a
 * thread and the queue pairs on them, connections made and accepted. What travels is the business
 * of the packages that use this one.
 */
package io.crail.rpc.rdma;
