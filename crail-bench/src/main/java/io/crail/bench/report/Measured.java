/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.report;

import io.crail.bench.record.Figures;
import java.util.List;

/**
 * What was measured with one size.
 *
 * @param size bytes of an operation
 * @param experiments what each experiment gave; at least one
 */
public record Measured(int size, List<Figures> experiments) {
  /** All experiments as if they had been one. */
  Figures sum() {
    return Figures.sum(experiments);
  }
}
