/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import io.crail.spark.output.OutputId;

/**
 * A block.
 *
 * @param name how the one who wants it calls it
 * @param output the map output
 * @param from the first partition
 * @param to the partition after the last
 */
public record BlockRange(String name, OutputId output, int from, int to) {}
