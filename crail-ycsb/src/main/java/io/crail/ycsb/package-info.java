/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Crail as a database of the Yahoo! Cloud Serving Benchmark. A record is a key-value in a table.
 * Only the public API of the client is used. Nothing here measures.
 */
package io.crail.ycsb;
