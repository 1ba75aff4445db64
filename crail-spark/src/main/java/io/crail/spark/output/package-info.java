/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Map outputs as files of Crail: their names, their layout, how one is written and sealed, and when
 * it is deleted. Nothing here knows Spark.
 */
package io.crail.spark.output;
