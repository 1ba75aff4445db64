/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.record.Figures;
import java.util.List;

/**
 * The figures for one size.
 *
 * @param size bytes of an operation
 * @param experiments the figures of each experiment; at least one
 */
public record Measured(int size, List<Figures> experiments) {
  /** The figures of all experiments together. */
  Figures sum() {
    return Figures.sum(experiments);
  }
}
