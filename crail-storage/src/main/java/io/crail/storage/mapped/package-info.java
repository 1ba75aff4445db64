/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The way to a datanode on the client's own host: a copy to or from its mapped regions. The same
 * for all tiers whose regions are files.
 */
package io.crail.storage.mapped;
