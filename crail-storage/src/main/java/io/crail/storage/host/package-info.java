/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What tiers that lend memory of their host share in their server parts: keys, arguments, and the
 * making and closing of regions. Each tier serves the regions itself.
 */
package io.crail.storage.host;
