/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.NoSpaceException;
import io.crail.common.error.UnavailableException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writers that go on while their namenode is restarted, and those who get their space then. */
@EachTier(ifLong = Tier.RDMA)
class NamenodeRestartTest {
  private static final int ROUNDS = Boolean.getBoolean("crail.test.long") ? 3 : 2;
  private static final int WRITERS = 2;
  private static final int FILES = 28;
  private static final int MIB = 1 << 20;

  private final Tier tier;
  private final Random random = new Random(Bytes.seed("namenode restarts"));

  NamenodeRestartTest(Tier tier) {
    this.tier = tier;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oldWritersNeverReachSpaceOfTheSuccessor(boolean mapped) throws Exception {
    EmbeddedCrail.Builder builder = EmbeddedCrail.builder().host(tier.host()).storage(32 * MIB);
    tier.settings().forEach(builder::set);
    try (EmbeddedCrail crail =
        builder
            .mapped(mapped)
            .set("crail.storage.keepalive", "500ms")
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.lease", tier.checksGeneration() ? "10s" : "5s")
            .set("crail.namenode.freemargin", "2000ms")
            .start()) {
      for (int round = 0; round < ROUNDS; round++) {
        CrailStore old = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
        CrailStore fresh = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
        try {
          awaitSpace(old, "/before");
          List<CrailOutputStream> outputs = new ArrayList<>();
          for (int i = 0; i < WRITERS; i++) {
            CrailOutputStream output =
                Bytes.createFile(old, "/old" + i).getDirectOutputStream(14 * MIB);
            output.write(Bytes.buffer(new byte[4096])).get(60, TimeUnit.SECONDS);
            outputs.add(output);
          }
          crail.restartNamenode(0);
          awaitSpace(fresh, "/after");
          // Both go through the same space now, from its beginning on.
          List<Future<?>> writers = new ArrayList<>();
          for (CrailOutputStream output : outputs) {
            byte[] bytes = Bytes.random(random, MIB);
            writers.add(threads.submit(() -> writeWhileItGoes(output, bytes)));
          }
          List<byte[]> expected = new ArrayList<>();
          for (int i = 0; i < FILES; i++) {
            byte[] bytes = Bytes.random(random, MIB);
            Bytes.write(fresh, "/new" + i, bytes);
            expected.add(bytes);
          }
          for (Future<?> writer : writers) {
            writer.get(60, TimeUnit.SECONDS);
          }
          for (int i = 0; i < FILES; i++) {
            byte[] found = Bytes.read(fresh.lookup("/new" + i).get().asFile());
            assertArrayEquals(expected.get(i), found, "round " + round + ", file " + i);
          }
          for (int i = 0; i < FILES; i++) {
            fresh.delete("/new" + i, false).get(60, TimeUnit.SECONDS);
          }
        } finally {
          threads.shutdownNow();
          assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
          fresh.close();
          old.close();
        }
      }
    }
  }

  /** Goes on as an application that knows of nothing. */
  private static Void writeWhileItGoes(CrailOutputStream output, byte[] bytes) throws Exception {
    CrailBuffer buffer = Bytes.buffer(bytes);
    try {
      for (int i = 1; i < 14; i++) {
        buffer.clear();
        assertEquals(bytes.length, output.write(buffer).get(60, TimeUnit.SECONDS).getLen());
      }
    } catch (java.io.IOException | ExecutionException e) {
      // Sooner or later it has to end so.
    }
    return null;
  }

  /** Until the datanode is registered, and what was in use before has rested. */
  private static void awaitSpace(CrailStore store, String path) throws Exception {
    int[] tries = new int[1];
    TestCluster.await(
        "space",
        () -> {
          // Closed in any case: the leases of many would have to be renewed all the time.
          CrailOutputStream output =
              Bytes.createFile(store, path + tries[0]++).getDirectOutputStream(1);
          try {
            output.write(Bytes.buffer(new byte[1])).get(60, TimeUnit.SECONDS);
            output.close();
            return true;
          } catch (ExecutionException e) {
            assertThrows(CrailException.class, output::close);
            if (e.getCause() instanceof NoSpaceException
                || e.getCause() instanceof UnavailableException) {
              return false;
            }
            throw e;
          }
        });
  }
}
