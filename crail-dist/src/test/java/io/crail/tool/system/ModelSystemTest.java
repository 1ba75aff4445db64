/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.testkit.nemesis.NetworkNamespaces;
import io.crail.testkit.nemesis.SmallMemory;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Short runs of {@code ci/torture}. */
@Tag("once")
class ModelSystemTest {
  private static final int SECONDS = Integer.getInteger("crail.test.seconds", 12);
  private static final int DATANODES = 2;
  private static final int CLIENTS = 3;
  private static final int THREADS = 3;

  /** Too few for what the clients write. */
  private static final int MEBIBYTES = 48;

  private static final int LONGEST_FAULT_MILLIS = 5000;

  private static ModelRun.Parameters parameters(
      boolean mapped,
      int namenodes,
      boolean fill,
      boolean network,
      ModelRun.Kept durable,
      int standbys) {
    return parameters(mapped, namenodes, fill, network, durable, false, standbys);
  }

  private static ModelRun.Parameters parameters(
      boolean mapped,
      int namenodes,
      boolean fill,
      boolean network,
      ModelRun.Kept durable,
      boolean keep,
      int standbys) {
    return new ModelRun.Parameters(
        Long.getLong("crail.seed", System.nanoTime()),
        SECONDS,
        mapped,
        namenodes,
        DATANODES,
        CLIENTS,
        THREADS,
        MEBIBYTES,
        LONGEST_FAULT_MILLIS,
        fill,
        network,
        durable,
        keep,
        standbys);
  }

  @ParameterizedTest(name = "mapped: {0}, namenodes: {1}")
  @CsvSource({"true, 1", "false, 4"})
  void findsNothingWrong(boolean mapped, int namenodes) throws Exception {
    ModelRun.Parameters parameters =
        parameters(mapped, namenodes, false, false, ModelRun.Kept.FALSE, 0);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  @Test
  void findsNothingLostByDurableNamenodes() throws Exception {
    ModelRun.Parameters parameters = parameters(true, 2, false, false, ModelRun.Kept.TRUE, 0);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  @Test
  void findsOnlyTheLastChangesLostWhereAnswersDoNotWait() throws Exception {
    ModelRun.Parameters parameters = parameters(true, 2, false, false, ModelRun.Kept.ASYNC, 0);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  /** Nor by datanodes that are killed, over the network and in mapped memory. */
  @ParameterizedTest(name = "mapped: {0}")
  @ValueSource(booleans = {true, false})
  void findsNothingLostByDatanodesThatKeep(boolean mapped) throws Exception {
    assumeTrue(Boolean.getBoolean("crail.test.long"), "it takes part in the long runs");
    ModelRun.Parameters parameters =
        parameters(mapped, 2, false, false, ModelRun.Kept.TRUE, true, 0);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  /** Namenodes lose the last changes, and datanodes are killed and keep what they have. */
  @Test
  void findsOnlyTheLastChangesLostWhereDatanodesKeep() throws Exception {
    assumeTrue(Boolean.getBoolean("crail.test.long"), "it takes part in the long runs");
    ModelRun.Parameters parameters =
        parameters(true, 2, false, false, ModelRun.Kept.ASYNC, true, 0);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  /** Each has two, and one of three processes may be lost at any time. */
  @Test
  void findsNothingLostByNamenodesWithStandbys() throws Exception {
    ModelRun.Parameters parameters = parameters(true, 1, false, false, ModelRun.Kept.TRUE, 2);
    assertEquals(List.of(), ModelRun.of(parameters, null), parameters.command());
  }

  @Test
  void findsNothingWrongWhereProcessesAreCutOffAndMemoryIsFilled() throws Exception {
    String networks = NetworkNamespaces.unavailable();
    assumeTrue(networks.isEmpty(), "no network namespaces can be made: " + networks);
    String memory = SmallMemory.unavailable();
    assumeTrue(memory.isEmpty(), "no memory can be mounted: " + memory);
    ModelRun.Parameters parameters = parameters(false, 2, true, true, ModelRun.Kept.FALSE, 0);
    assertTrue(ModelProgram.inNetworks(parameters, true), parameters.command());
  }
}
