/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The endpoint of a datanode on the client's own host, which copies to and from its mapped regions.
 * The same for all tiers whose regions are files.
 */
package io.crail.storage.mapped;
