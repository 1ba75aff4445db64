/* SPDX-License-Identifier: Apache-2.0 */
/** Users' memory that devices read and write, registered once and kept for later uses. */
package io.crail.rpc.rdma.memory;
