/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The tiers that contracts run over ({@link io.crail.testkit.tier.Tier}), what runs them, and the
 * contract of a datanode alone. What a client sees of a whole cluster is in io.crail.store.
 */
package io.crail.testkit.tier;
