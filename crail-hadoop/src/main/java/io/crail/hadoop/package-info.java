/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Crail as a file system of Hadoop: paths that begin with {@code crail://}, with the semantics of
 * HDFS. Everything goes through the public API of the client; nothing in here knows the protocol.
 */
package io.crail.hadoop;
