/* SPDX-License-Identifier: Apache-2.0 */
/** Another file system of Hadoop under a name. It knows nothing of the cache. */
package io.crail.cache.mount;
