/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All that touches the internals of Spark 4.2. Spark does not promise to keep them, so another line
 * of Spark gets a package of its own.
 */
package io.crail.spark.line42;
