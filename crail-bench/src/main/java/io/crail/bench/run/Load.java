/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Figures;

/** Who measures: workers of this process, or other processes. Used by one thread. */
interface Load<T extends LoadType> extends AutoCloseable {
  /** Measures once. */
  Figures experiment(BenchOptions<T> options) throws Exception;
}
