/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The datanode daemon, the same for all tiers: it starts a tier's server and keeps it registered
 * with all namenodes. Knows a tier by its interface only.
 */
package io.crail.storage.daemon;
