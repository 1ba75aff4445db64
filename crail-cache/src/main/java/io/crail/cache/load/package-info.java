/* SPDX-License-Identifier: Apache-2.0 */
/** Fills a cache before anyone reads. */
package io.crail.cache.load;
