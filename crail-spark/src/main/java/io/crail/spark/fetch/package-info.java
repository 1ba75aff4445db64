/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fetches blocks, which are ranges of partitions of map outputs, many at a time. Nothing here knows
 * Spark.
 */
package io.crail.spark.fetch;
