/* SPDX-License-Identifier: Apache-2.0 */
/** Hadoop's contract of a file system, for local files behind the cache. */
package io.crail.cache.contract;
