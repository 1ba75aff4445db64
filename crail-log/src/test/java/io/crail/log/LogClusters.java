/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.util.ArrayList;
import java.util.List;

/** A cluster without datanodes, which logs do not need, and stores on it. */
final class LogClusters implements AutoCloseable {
  private final EmbeddedCrail crail;
  private final List<CrailStore> stores = new ArrayList<>();

  LogClusters(int namenodes) throws Exception {
    crail = EmbeddedCrail.builder().namenodes(namenodes).datanodes(0).start();
  }

  /** A store of its own, as another program has it. */
  CrailStore store() throws Exception {
    CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
    stores.add(store);
    return store;
  }

  @Override
  public void close() throws Exception {
    for (CrailStore store : stores) {
      store.close();
    }
    crail.close();
  }
}
