/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spark with and without Crail. Starts Spark's drivers as processes and reads what they print; the
 * jobs themselves are in crail-spark-jobs, and no class of Spark is seen here.
 */
package io.crail.lab.spark;
