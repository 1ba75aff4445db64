/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The benchmark of a file system through Hadoop's interface: Crail, HDFS, or the local file system.
 * No other package of the benchmarks uses Hadoop.
 */
package io.crail.bench.hadoop;
