/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the server parts of tiers share that lend memory of their host: keys, arguments, and the
 * making and closing of regions. How they are served is the tier's.
 */
package io.crail.storage.host;
