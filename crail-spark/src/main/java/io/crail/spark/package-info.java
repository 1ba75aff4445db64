/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a Spark application names in its configuration: the shuffle manager and the keys. The parts
 * that touch Spark's internals are in the package of the Spark line.
 */
package io.crail.spark;
