/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Spark with executors that are processes, on servers that are processes, started through {@code
 * bin/crail} of the layout that {@code -Dcrail.home=} names: what comes out of jobs, and what
 * happens when something dies in the middle of one.
 */
package io.crail.spark.system;
