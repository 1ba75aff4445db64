/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

/**
 * An attempt of a stage.
 *
 * @param stage its stage
 * @param attempt counted from 0
 */
public record StageAttempt(int stage, int attempt) {}
