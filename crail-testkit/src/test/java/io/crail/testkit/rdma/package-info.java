/* SPDX-License-Identifier: Apache-2.0 */
/** Tests on RDMA devices, which only ci/rdma runs: inside the machine of bin/rdma-vm. */
package io.crail.testkit.rdma;
