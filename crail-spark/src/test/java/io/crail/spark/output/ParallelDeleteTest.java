/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailTimeoutException;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Valve;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ParallelDeleteTest {
  private static final int SHUFFLE = 3;
  private static final long TIMEOUT_SECONDS = 2;
  private static final List<String> ROOTS =
      IntStream.range(0, 12).mapToObj(i -> "/root-" + i).toList();

  private EmbeddedCrail cluster;
  private Valve valve;
  private CrailStore store;
  private CrailStore whole;

  @BeforeEach
  void start() throws Exception {
    cluster = EmbeddedCrail.builder().namenodes(2).start();
    valve = new Valve(cluster.namenodeAddresses().get(1));
    String first = "crail://127.0.0.1:" + cluster.namenodeAddresses().get(0).getPort();
    Configuration through =
        cluster.configuration().toBuilder()
            .set("crail.rpctimeout", TIMEOUT_SECONDS + "s", "the test")
            .set("crail.namenode.address", first + "," + valve.address(), "the test")
            .build();
    store = CrailStore.newInstance(CrailConfiguration.of(through));
    whole = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterEach
  void stop() throws Exception {
    valve.close();
    store.close();
    whole.close();
    cluster.close();
  }

  private static OutputPlace place(CrailStore store) {
    return new OutputPlace(
        store, ROOTS, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, Duration.ofDays(1));
  }

  private int roots() throws Exception {
    int there = 0;
    for (String root : ROOTS) {
      there += whole.lookup(root + "/shuffle-" + SHUFFLE).get() == null ? 0 : 1;
    }
    return there;
  }

  @Test
  void manySubtreesAreDeletedAndCounted() throws Exception {
    place(whole).createRoots();
    List<String> paths =
        Stream.concat(
                IntStream.range(0, 200).mapToObj(i -> "/root-" + i), Stream.of("/none/nothing"))
            .toList();
    assertEquals(ROOTS.size(), ParallelDelete.of(whole, paths));
    assertEquals(0, roots());
  }

  @Test
  @Tag("once")
  void aSilentNamenodeCostsOneDeadlineForAllItsRoots() throws Exception {
    place(store).createRoots();
    place(store).createShuffle(SHUFFLE);
    assertEquals(ROOTS.size(), roots());
    valve.hold(true);
    long begin = System.nanoTime();
    IOException failure =
        assertThrows(IOException.class, () -> place(store).removeShuffle(SHUFFLE));
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
    assertTrue(failure instanceof CrailTimeoutException, failure::toString);
    int left = roots();
    assertTrue(left > 4 && left < ROOTS.size(), "left " + left);
    assertTrue(seconds < 4 * TIMEOUT_SECONDS, "took " + seconds + " s");
    assertNotNull(whole.lookup(ROOTS.get(0)).get());
  }
}
