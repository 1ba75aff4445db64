/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.embedded.EmbeddedCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** YCSB itself, with the workloads of the binding. YCSB checks the records that it reads. */
@Timeout(180)
class YcsbProgramTest {
  private static final int PATIENCE_SECONDS = 60;
  private static final int RECORDS = 200;
  private static final int OPERATIONS = 1000;

  private static EmbeddedCrail crail;

  @TempDir Path directory;

  @BeforeAll
  static void startCluster() throws Exception {
    crail = EmbeddedCrail.builder().storage(256L << 20).start();
  }

  @AfterAll
  static void stopCluster() {
    crail.close();
  }

  /** Runs YCSB with a workload. Returns its output. */
  private String run(String phase, String workload) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "site.ycsb.Client"));
    command.addAll(List.of(phase, "-db", CrailClient.class.getName(), "-threads", "4"));
    command.addAll(List.of("-P", "src/main/workloads/" + workload));
    List<String> properties = new ArrayList<>();
    crail.configuration().texts().forEach((key, text) -> properties.add(key + "=" + text));
    properties.add("crail.enumeratekeys=true");
    properties.add("recordcount=" + RECORDS);
    properties.add("operationcount=" + OPERATIONS);
    properties.add("dataintegrity=true");
    properties.forEach(property -> command.addAll(List.of("-p", property)));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(output.toFile())
            .start();
    try {
      assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), Files.readString(output));
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(output);
    assertEquals(0, process.exitValue(), text);
    assertFalse(text.contains("-FAILED"), text);
    assertFalse(text.contains("Exception"), text);
    return text;
  }

  /** The number of operations that ended with OK. Any other result is a failure. */
  private static int ok(String text, String operation) {
    int count = 0;
    Matcher line = Pattern.compile("\\[" + operation + "\\], Return=(\\S+), (\\d+)").matcher(text);
    while (line.find()) {
      assertEquals("OK", line.group(1), text);
      count += Integer.parseInt(line.group(2));
    }
    return count;
  }

  @Test
  void ycsbReadsWhatItWrote() throws Exception {
    assertEquals(RECORDS, ok(run("-load", "workloada"), "INSERT"));
    String updates = run("-t", "workloada");
    assertEquals(OPERATIONS, ok(updates, "READ") + ok(updates, "UPDATE"), updates);
    assertEquals(ok(updates, "READ"), ok(updates, "VERIFY"), updates);
    String both = run("-t", "workloadf");
    assertEquals(OPERATIONS, ok(both, "READ"), both);
    assertTrue(ok(both, "UPDATE") > OPERATIONS / 4, both);
    assertEquals(ok(both, "READ"), ok(both, "VERIFY"), both);
    String scans = run("-t", "workloade");
    assertEquals(OPERATIONS, ok(scans, "SCAN") + ok(scans, "INSERT"), scans);
  }
}
