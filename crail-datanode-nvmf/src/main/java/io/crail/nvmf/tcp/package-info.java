/* SPDX-License-Identifier: Apache-2.0 */

/** Queues over TCP. Source: NVMe/TCP Transport Specification 1.0. */
package io.crail.nvmf.tcp;
