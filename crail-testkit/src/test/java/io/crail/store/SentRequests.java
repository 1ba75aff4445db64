/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.CrailStore;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts the requests about nodes and their bytes that an action of a program has sent. */
final class SentRequests {
  private SentRequests() {}

  /** What is counted. */
  interface Action {
    void run() throws Exception;
  }

  /** The requests of an action, by the names of their operations. */
  static Map<String, Long> of(TestCluster cluster, CrailStore store, Action action)
      throws Exception {
    // So that this thread has its connections.
    store.lookup("/counted").get();
    Map<String, Long> before = counts(cluster);
    action.run();
    Map<String, Long> sent = counts(cluster);
    before.forEach((name, count) -> sent.merge(name, -count, Long::sum));
    sent.values().removeIf(count -> count == 0);
    return sent;
  }

  private static Map<String, Long> counts(TestCluster cluster) throws Exception {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (Operation<?, ?> operation :
        new Operation<?, ?>[] {
          NameNodeOperations.CREATE,
          NameNodeOperations.PUT,
          NameNodeOperations.LOOKUP,
          NameNodeOperations.SET_SIZE,
          NameNodeOperations.EXTEND,
          NameNodeOperations.FIND_EXTENTS,
          NameNodeOperations.ACQUIRE_LEASE
        }) {
      counts.put(operation.name(), cluster.operations(operation));
    }
    return counts;
  }
}
