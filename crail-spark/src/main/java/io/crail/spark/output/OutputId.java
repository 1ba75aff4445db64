/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

/**
 * The identity of a map output.
 *
 * @param shuffle the number of the shuffle in its application
 * @param map the number of the task attempt that wrote the output; no two attempts of an
 *     application share one, whatever their stage and its attempt
 */
public record OutputId(int shuffle, long map) {}
