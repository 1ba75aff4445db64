/* SPDX-License-Identifier: Apache-2.0 */

/**
 * Controllers in Java, whose queues a {@link io.crail.nvmf.Fabric} carries: how they are started,
 * prove who they are, give signs of life and end.
 */
package io.crail.nvmf.fabric;
