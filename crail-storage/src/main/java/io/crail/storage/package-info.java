/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a storage tier is, at both ends: the server part that lends regions, and the endpoint
 * through which a client reads and writes them; the datanode daemon that all tiers share; and the
 * access to regions that lie on the client's own host.
 */
package io.crail.storage;
