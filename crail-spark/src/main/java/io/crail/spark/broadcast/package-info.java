/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Values in the store: how one is written, checked, read once for all tasks of a process, and
 * deleted. Of Spark it knows the serializer. What is a broadcast variable to Spark is not here.
 */
package io.crail.spark.broadcast;
