/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An initiator that SPDK drives: its library does the work of {@code io.crail.nvmf.tcp} and {@code
 * io.crail.nvmf.rdma}, and of the controller above them, outside of the JVM. What SPDK is given and
 * gives back stands in {@link io.crail.nvmf.spdk.SpdkLayout}.
 */
package io.crail.nvmf.spdk;
