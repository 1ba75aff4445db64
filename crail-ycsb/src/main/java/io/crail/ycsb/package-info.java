/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Crail as a database of the Yahoo! Cloud Serving Benchmark: a record is a key-value in a table.
 * Everything goes through the public API of the client; nothing in here measures.
 */
package io.crail.ycsb;
