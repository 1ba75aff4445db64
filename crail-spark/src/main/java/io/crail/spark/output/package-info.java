/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Map outputs as files of Crail: their names, their layout, and how one is written and sealed.
 * Nothing here knows Spark.
 */
package io.crail.spark.output;
