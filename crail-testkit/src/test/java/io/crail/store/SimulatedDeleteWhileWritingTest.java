/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.DeleteWhileWritingTest.assertLives;
import static io.crail.store.DeleteWhileWritingTest.begin;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.UnavailableException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deletes that fail, of files that are being written. */
@Tag("once")
class SimulatedDeleteWhileWritingTest {
  @Test
  void aDeleteThatFailsEndsNoStream() throws Exception {
    long seed = Bytes.seed("failing delete");
    try (SimulatedCluster cluster = new SimulatedCluster(seed, "crail.rpctimeout=3s")) {
      CrailStore store = cluster.newStore("client");
      Bytes.create(store, "/d", CrailNodeType.DIRECTORY);
      CrailOutputStream file = begin(store, "/f");
      CrailOutputStream below = begin(store, "/d/f");
      cluster.network().partition("client", SimulatedCluster.NAMENODE);
      List<Upcoming<CrailNode>> deletes =
          List.of(store.delete("/f", false), store.delete("/d", true));
      for (Upcoming<CrailNode> delete : deletes) {
        ExecutionException failed = assertThrows(ExecutionException.class, delete::get);
        assertTrue(
            failed.getCause() instanceof CrailTimeoutException
                || failed.getCause() instanceof UnavailableException,
            () -> failed.toString());
      }
      cluster.network().heal("client", SimulatedCluster.NAMENODE);
      assertLives(file, store, "/f");
      assertLives(below, store, "/d/f");
    }
  }
}
