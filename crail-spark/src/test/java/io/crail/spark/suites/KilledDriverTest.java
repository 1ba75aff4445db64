/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.suites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.common.NamenodeAddresses;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.Broadcasts;
import io.crail.spark.SparkOnCrail;
import io.crail.spark.application.Applications;
import io.crail.spark.application.Applications.Application;
import io.crail.spark.system.Eventually;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The end of a driver that is a process of its own. */
@Tag("once")
@Timeout(300)
class KilledDriverTest {
  private static final int LEASE_SECONDS = 4;
  private static final int WAIT_SECONDS = 120;

  @TempDir Path local;

  private Process driver(SparkOnCrail crail) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-opens"))
        .forEach(command::add);
    command.addAll(
        List.of(
            "-Xmx512m",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            DriverProgram.class.getName(),
            crail.cluster().configuration().texts().get("crail.namenode.address"),
            LEASE_SECONDS + "s",
            local.toString()));
    return new ProcessBuilder(command).redirectError(local.resolve("driver.log").toFile()).start();
  }

  /** Reads in another thread, which ends with the driver: nothing else ends a read of a pipe. */
  private static void awaitReady(Process driver) throws Exception {
    CompletableFuture<Boolean> ready =
        CompletableFuture.supplyAsync(
            () -> driver.inputReader().lines().anyMatch(DriverProgram.READY::equals));
    assertTrue(ready.get(WAIT_SECONDS, TimeUnit.SECONDS), "the driver has ended");
  }

  private static Application only(Applications applications) throws Exception {
    List<Application> found = applications.list().applications();
    assertEquals(1, found.size(), found::toString);
    return found.get(0);
  }

  @Test
  void onlyDataOfKilledDriversAreDeleted() throws Exception {
    Process driver = null;
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder());
        CrailStore store = crail.store()) {
      Applications applications =
          new Applications(store, NamenodeAddresses.of(crail.cluster().namenodeAddresses()));
      driver = driver(crail);
      awaitReady(driver);
      Application living = only(applications);
      assertTrue(living.id().startsWith("to-be-killed-"), living::toString);
      Duration age = Duration.between(living.began().orElseThrow(), Instant.now());
      assertTrue(!age.isNegative() && age.toSeconds() < 120, age::toString);
      assertEquals(DriverProgram.MAPS, living.shuffle().files());
      assertTrue(living.shuffle().bytes() > 0);
      assertEquals(1, living.broadcast().files());
      assertTrue(living.broadcast().bytes() >= DriverProgram.BROADCAST_BYTES);
      Instant twice = living.renewed().plusSeconds(2 * LEASE_SECONDS);
      Eventually.holds("renewals", () -> only(applications).renewed().isAfter(twice));

      driver.destroyForcibly();
      assertTrue(driver.waitFor(30, TimeUnit.SECONDS));
      Eventually.holds("the end of its data", () -> Broadcasts.children(store, "/").isEmpty());
      Eventually.holds("free space", () -> store.getSpace().usedBytes() == 0);
    } finally {
      if (driver != null) {
        driver.destroyForcibly().waitFor(30, TimeUnit.SECONDS);
      }
    }
  }
}
