/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a storage tier is, at both ends: the server part that lends regions, and the endpoint
 * through which a client reads and writes them. A tier implements these. The packages below hold
 * what several tiers share for that.
 */
package io.crail.storage;
