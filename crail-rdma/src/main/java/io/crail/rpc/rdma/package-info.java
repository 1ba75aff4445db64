/* SPDX-License-Identifier: Apache-2.0 */
/**
 * RDMA for all protocols: devices and registered memory, the completion queues of a thread and
 * their queue pairs, and connections, made and accepted. The packages that use this one define the
 * messages.
 */
package io.crail.rpc.rdma;
