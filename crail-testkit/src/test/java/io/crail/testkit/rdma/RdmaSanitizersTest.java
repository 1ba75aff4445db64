/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Crail does over RDMA, with the sanitizers for addresses and undefined behaviour. */
@Tag("rdma")
@Tag("sanitizers")
class RdmaSanitizersTest {
  private static final int PATIENCE_SECONDS = 1200;

  private static final String TRANSPORT = "io.crail.testkit.transport.DarpcTransportTest#";
  private static final String TIER = "--select-method=io.crail.testkit.tier.";

  /** The tiers over RDMA: each contract of a tier runs over both. */
  private static final List<String> TIERS = List.of("rdma", "rdma_acknowledged");

  /**
   * A store, connections and what goes over them, and every way in which that ends; and the jar of
   * DiSNI on the same library, of which the long tests say more.
   */
  private static final List<String> TESTS =
      List.of(
          "--select-method=io.crail.verbs.QueuePairTest#isMadeFailsAndGoes",
          "--select-method=io.crail.verbs.DisniTest"
              + "#endpointsReadRemoteMemoryAndCloseTheirChannels",
          "--select-iteration=method:io.crail.store.DarpcStoreTest#carriesAWholeStore"
              + "(java.lang.String,java.lang.String,int)[0]",
          "--select-method=" + TRANSPORT + "carriesFramesOfAllSizes",
          "--select-method=" + TRANSPORT + "carriesManyLargeFramesAtOnce",
          "--select-method=" + TRANSPORT + "servesSeveralLoopsAndPeers",
          "--select-method=" + TRANSPORT + "endsACallAtItsDeadline",
          "--select-method=" + TRANSPORT + "endsTheConnectionOfAMalformedAnswer",
          "--select-method=" + TRANSPORT + "reportsARefusedConnection",
          "--select-method=" + TRANSPORT + "reportsARefusedHandshake",
          "--select-method=" + TRANSPORT + "retriesWhatMayBeRetriedWhenTheServerRestarts",
          "--select-method=" + TRANSPORT + "failsOutstandingCallsWhenTheLoopIsClosed",
          TIER + "TransfersTest#movesEveryLengthAtRandomOffsets",
          TIER + "TransfersTest#manyTransfersMayBeOutstanding",
          TIER + "EndsTest#aPassedDeadlineEndsATransfer",
          TIER + "EndsTest#closingAnEndpointEndsWhatIsOutstanding",
          TIER + "EndsTest#aDatanodeThatEndsFailsWhatIsOutstanding",
          TIER + "EndsTest#aRestartedDatanodeIsNotTakenForTheOldOne",
          TIER + "RefusalsTest#aFenceShutsOutWhoKnowsTheRegionAsItWas");

  private static final Pattern SUCCESSFUL = Pattern.compile("\\[ +(\\d+) tests successful");

  @TempDir Path directory;

  /** That of these tests, and those of the library. */
  private static String classPath() {
    String all = System.getProperty("java.class.path");
    String own =
        Arrays.stream(all.split(File.pathSeparator))
            .filter(each -> each.endsWith("crail-testkit/target/test-classes"))
            .findFirst()
            .orElseThrow();
    return all + File.pathSeparator + own.replace("crail-testkit", "crail-verbs");
  }

  @Test
  void messagesTransfersAndTheirEnds() throws Exception {
    assumeTrue(
        Files.exists(Path.of("..", "crail-verbs", "target", "native", "sanitized", "libdisni.so")),
        "the library with the sanitizers is not built (make -C crail-verbs sanitized)");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of("..", "ci", "sanitized").toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-ea",
                "-Dcrail.test.rdma.server=" + RdmaHost.SERVER,
                "-Dcrail.test.place=machine",
                "-Dcrail.test.tiers=" + String.join(",", TIERS),
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-cp",
                classPath(),
                "org.junit.platform.console.ConsoleLauncher",
                "execute",
                "--disable-banner",
                "--disable-ansi-colors",
                "--details=tree"));
    command.addAll(TESTS);
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    process.destroyForcibly();
    String text = Files.readString(output);
    assertTrue(ended, "not done in time: " + text);
    assertEquals(0, process.exitValue(), text);
    assertFalse(text.contains("AddressSanitizer") || text.contains("runtime error:"), text);
    Matcher successful = SUCCESSFUL.matcher(text);
    assertTrue(successful.find(), text);
    int ofTiers = (int) TESTS.stream().filter(test -> test.startsWith(TIER)).count();
    int expected = TESTS.size() + (TIERS.size() - 1) * ofTiers;
    assertEquals(expected, Integer.parseInt(successful.group(1)), text);
  }
}
