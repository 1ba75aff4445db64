/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.bench.run.BenchRunner;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs that need more space than a cluster has; only the second class has some to spare. */
@Timeout(120)
@Tag("once")
class IoBenchSpaceTest {
  private static final long DATANODE_BYTES = 16 << 20;

  private static EmbeddedCrail cluster;
  private static CrailStore store;

  private final BenchOutput output = new BenchOutput();

  @BeforeAll
  static void start() throws Exception {
    cluster =
        EmbeddedCrail.builder()
            .storageClasses(0, 1, 1)
            .storage(DATANODE_BYTES)
            .set("crail.storage.spillorder", "0")
            .start();
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      store.close();
      cluster.close();
    }
  }

  private int run(String line) {
    output.forget();
    return IoBench.run(line.split(" "), output.context(cluster::configuration, false));
  }

  private static List<String> names() throws Exception {
    List<String> names = new ArrayList<>();
    store.lookup("/").get().asDirectory().listEntries().forEachRemaining(names::add);
    return names;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t write -s 1m -k 49 -w 0",
        "-t write -s 1m -k 48 -w 1",
        "-t writeAsync -s 1k,1m -k 49 -b 4 -w 0",
        "-t write -s 1m -k 25 -w 0 --threads 2",
        "-t writeInt -k 13000000 -w 0"
      })
  void runsThatCannotFitAreRefusedBeforehand(String line) throws Exception {
    assertEquals(BenchRunner.FAILED, run(line + " -f /large.dat"));
    assertTrue(output.errors().contains("the cluster has room for 48 MiB"), output.errors());
    assertFalse(output.errors().contains("touching"), output.errors());
    assertEquals(List.of(), names());
  }

  /** The classes together have room, but the file's has not. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-t write -s 1m -k 20 -w 2",
        "-t write -s 1m -k 20 -m false --touch false",
        "-t writeAsync -s 1m -k 20 -b 4 -w 0",
        "-t writeInt -k 5000000",
        "-t write -s 1m -k 10 -w 0 --threads 2",
        "-t write -s 1m -k 10 -w 0 --clients 2"
      })
  void aRunThatFailsForLackOfSpaceLeavesNothing(String line) throws Exception {
    assertEquals(BenchRunner.FAILED, run(line + " -f /large.dat"), output::text);
    assertTrue(output.errors().contains("no space"), output.errors());
    assertEquals(List.of(), names());
    // Its space is free again.
    assertEquals(BenchRunner.OK, run("-t write -s 1m -k 8 -w 0 -f /fits.dat"), output::errors);
    store.delete("/fits.dat", false).get();
  }

  @Test
  void replacedFilesCountAsRoom() throws Exception {
    String line = "-t write -s 1m -k 10 -w 2 -f /again.dat";
    assertEquals(BenchRunner.OK, run(line), output::errors);
    assertEquals(BenchRunner.OK, run(line), output::errors);
    assertNotNull(store.lookup("/again.dat").get(), "kept after a run that has succeeded");
    store.delete("/again.dat", false).get();
  }

  /** It was refused before anything was replaced. */
  @Test
  void anEarlierFileSurvivesARunThatCannotFit() throws Exception {
    assertEquals(BenchRunner.OK, run("-t write -s 1m -k 2 -w 0 -f /old.dat"), output::errors);
    assertEquals(BenchRunner.FAILED, run("-t write -s 1m -k 100 -w 0 -f /old.dat"));
    assertEquals(2 << 20, store.lookup("/old.dat").get().getCapacity());
    store.delete("/old.dat", false).get();
  }
}
