/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The benchmark of a file system through Hadoop's interface: Crail's, HDFS, the local one. The only
 * room of the benchmarks that sees Hadoop.
 */
package io.crail.bench.hadoop;
