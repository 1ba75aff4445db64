/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.top.TopQuery;
import io.crail.tool.top.TopReport;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a program that watches a cluster says when a namenode begins anew. */
@Tag("once")
class TopSystemTest {
  private static final Duration FIRST = Duration.ofMillis(100);

  /** Its counts are others then, and so may be its clock. */
  @Test
  void reportsFromBeforeARestartAreNotCompared() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 0, Map.of());
        CoreStore store =
            (CoreStore) CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
      TopReport.Manner manner =
          new TopReport.Manner(TopReport.By.CLIENT, TopReport.Order.OPERATIONS, 10);
      TopQuery query = new TopQuery(store.connections().namenodes(), 0, manner);
      assertTrue(query.next(FIRST).seconds() > 0);
      cluster.restartNamenode(0);
      lookup(store);
      TopReport anew = query.next(FIRST);
      assertEquals(0, anew.seconds());
      assertEquals(List.of(), anew.clients());
      lookup(store);
      TopReport next = query.next(FIRST);
      assertTrue(next.seconds() > 0);
      assertTrue(next.all().lookups() > 0, next::toString);
    }
  }

  private static void lookup(CrailStore store) throws Exception {
    assertNotNull(store.lookup("/").get(60, TimeUnit.SECONDS));
  }
}
