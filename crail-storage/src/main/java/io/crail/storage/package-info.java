/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a storage tier is, at both ends: the server part that lends regions, and the endpoint
 * through which a client reads and writes them. A tier implements these; how it does so, and what
 * several share for that, is in the packages below.
 */
package io.crail.storage;
