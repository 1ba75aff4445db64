/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Runs jobs of Spark whose data lie on flash, with the tests' own target of NVMe over TCP. */
@Tag("once")
@EnabledIfSystemProperty(
    named = "crail.spark",
    matches = ".+",
    disabledReason = "Spark is fetched for the long tests alone")
class SparkFlashSystemTest {
  private static final int MEMORY_CLASS = 0;
  private static final int FLASH_CLASS = 1;
  private static final int SECTOR = 512;
  private static final int SECTORS = (129 << 20) / SECTOR;

  @TempDir private Path local;

  @Test
  void dataLieOnFlash() throws Exception {
    Assumptions.assumeTrue(
        System.getProperty("crail.home") != null, "the jars are in the layout of -Dcrail.home=");
    TierJobs jobs = new TierJobs(local);
    Map<String, String> settings =
        Map.of(
            "crail.storage.types", "tcp,nvmf",
            "crail.storage.nvmf.allocationsize", "32m");
    try (NvmeTarget target =
            new NvmeTarget(new TargetOptions(), new TargetNamespace(1, SECTORS, SECTOR));
        ProcessCluster cluster = ProcessCluster.start("127.0.0.1", 1, 1, settings);
        CrailProcess flash = cluster.crail("datanode", "-t", "nvmf", "--", "-t", target.text())) {
      flash.await("^datanode \\S+ serves .+, registered$", ProcessCluster.PATIENCE);
      Map<Integer, Long> used =
          jobs.run(
              cluster,
              Map.of(
                  "spark.crail.shuffle.storageclass", "1",
                  "spark.crail.broadcast.storageclass", "1"));
      System.out.println("held at most, by class: " + used);
      assertTrue(used.get(FLASH_CLASS) >= TierJobs.HELD_BYTES, used::toString);
      assertEquals(0L, used.get(MEMORY_CLASS), used::toString);
      assertEquals(List.of(), target.complaints());
    }
  }
}
