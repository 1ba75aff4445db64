/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Crail as a file system of Hadoop: paths that begin with {@code crail://}, with the semantics of
 * HDFS. All calls go through the public API of the client; nothing here knows the protocol.
 */
package io.crail.hadoop;
