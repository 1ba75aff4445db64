/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.value;

import io.crail.CrailBuffer;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.Upcoming;
import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.RandomNames;
import io.crail.bench.record.Workload;
import io.crail.bench.run.BenchRun;

/** A table of many values. */
abstract class KeyValues implements Workload {
  /** Options and store. */
  protected final BenchRun run;

  /** The keys. */
  protected final RandomNames names;

  private final String table;

  /** Creates the workload on a table. */
  KeyValues(BenchRun run, String table) {
    this.run = run;
    this.table = table;
    this.names = new RandomNames(table, run.options().names(), run.options().seed());
  }

  /** Creates the table unless it exists. */
  protected final void ensureTable() throws Exception {
    CrailNode node = run.lookup(table);
    if (node == null) {
      run.create(table, CrailNodeType.TABLE);
    } else if (node.getType() != CrailNodeType.TABLE) {
      throw run.wrongType(node, "a table");
    }
  }

  /** Issues a put. */
  protected final Upcoming<CrailKeyValue> put(String path, CrailBuffer value) throws Exception {
    BenchOptions<?> options = run.options();
    return run.store()
        .put(
            path,
            value,
            CrailStorageClass.get(options.storageClass()),
            CrailLocationClass.get(options.locationClass()),
            options.enumerable());
  }
}
