/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.run;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.options.LoadType;
import io.crail.bench.record.Figures;

/** The source of load: workers of this process, or other processes. Used by one thread. */
interface Load<T extends LoadType> extends AutoCloseable {
  /** Runs one experiment. */
  Figures experiment(BenchOptions<T> options) throws Exception;
}
