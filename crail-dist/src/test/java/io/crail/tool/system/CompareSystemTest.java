/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Sections of {@code crail compare} that really measure, a little. */
@Tag("once")
@EnabledIfSystemProperty(
    named = "crail.test.long",
    matches = "true",
    disabledReason = "each section starts dozens of processes")
class CompareSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(600);
  private static final int SECTOR = 4096;
  private static final int SECTORS = (512 << 20) / SECTOR;

  @TempDir private Path directory;

  /** Runs a comparison, which has to succeed, and returns its report. */
  private String compare(String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("compare", "--runs", "1"));
    arguments.addAll(List.of(options));
    List<String> through =
        List.of("env", "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 -Dcrail.launcher=" + launcher());
    try (CrailProcess process =
        CrailProcess.crail(through, directory, arguments.toArray(new String[0]))) {
      assertEquals(0, process.awaitExit(PATIENCE), () -> process.stdout() + process.stderr());
      return process.stdout();
    }
  }

  /** What starts the commands of this class path; {@code bin/crail} itself if there is a layout. */
  private Path launcher() throws IOException {
    String home = System.getProperty("crail.home");
    if (home != null) {
      return Path.of(home, "bin", "crail").toAbsolutePath();
    }
    Path script = directory.resolve("crail");
    Files.writeString(
        script,
        "#!/bin/sh\nexec "
            + Path.of(System.getProperty("java.home"), "bin", "java")
            + " -cp '"
            + System.getProperty("java.class.path")
            + "' io.crail.tool.Main \"$@\"\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script;
  }

  private static void assertFigure(String text, String name, String unit) {
    assertTrue(
        text.lines()
            .anyMatch(line -> line.matches("[|] " + name + " [|] [0-9.,]+ " + unit + " .*")),
        name + " in " + unit + " in " + text);
  }

  @Test
  void aCacheIsMeasuredBesideItsSourceAndCrail() throws Exception {
    Path plots = directory.resolve("plots");
    String text = compare("--only", "cache", "--cached", "200", "--plots", plots.toString());
    for (String load : List.of("status, 1 client", "status, 8 clients", "read 256 KiB, 1 client")) {
      assertFigure(text, load + ", cold", "us p50");
      assertFigure(text, load + ", cached", "us p50");
      assertFigure(text, load + ", from the source", "us p99");
      assertFigure(text, "GET (128 B|256 KiB) beside " + load, "us p50");
    }
    assertTrue(
        text.contains("| 64 cold readers of one block: at most 1 reads of the source | 1.00"),
        text);
    assertFigure(text, "status, 2 clients, cached", "/s");
    assertFigure(text, "read 16 KiB, 4 clients, cached", "/s");
    for (int servers : new int[] {1, 2, 4}) {
      String of = servers + (servers == 1 ? " server" : " servers");
      assertFigure(text, "status, cached, " + of, "/CPU s");
      assertFigure(text, "read 256 KiB, cached, " + of, "/CPU s");
    }
    for (String chart : List.of("cache", "cache-clients", "cache-servers")) {
      assertTrue(Files.size(plots.resolve(chart + ".svg")) > 1000, chart);
    }
  }

  @Test
  void manyChildrenAreListedAndRemoved() throws Exception {
    String text = compare("--only", "children", "--children", "5000");
    assertFigure(text, "creates, 128 in flight, 5,000 children", "/s");
    assertFigure(text, "first page of a listing, 5,000 children", "us");
    assertFigure(text, "names of a whole listing, 5,000 children", "/s");
    assertFigure(text, "deletes of single children, 128 in flight, 5,000 children", "/s");
    assertFigure(text, "removal, until it is answered, no children", "us");
    assertFigure(text, "removal, until it is answered, 5,000 children", "us");
    assertFigure(text, "freed after the removal, 5,000 children", "/s");
  }

  @Test
  void tiersAreMeasuredUntilTheyAreSaturated() throws Exception {
    Path plots = directory.resolve("plots");
    try (NvmeTarget target =
        new NvmeTarget(new TargetOptions(), new TargetNamespace(1, SECTORS, SECTOR))) {
      String text =
          compare("--only", "tiers", "--flash", target.text(), "--plots", plots.toString());
      for (String place : List.of("memory", "flash", "memory and flash")) {
        assertFigure(text, "reads of 64 KiB, 64 in flight, " + place, "/s");
        assertFigure(text, "read 64 KiB, 1,000/s, " + place, "us p50");
        assertFigure(text, "read 64 KiB, 1,000/s, " + place, "us p99");
      }
      assertFigure(text, "overflow to flash of the file on both", "% of its bytes");
      assertEquals(List.of(), target.complaints());
    }
    assertTrue(Files.size(plots.resolve("tiers-p99.svg")) > 1000);
  }

  @Test
  void withoutFlashThereIsMemoryAlone() throws Exception {
    String text = compare("--only", "tiers");
    assertTrue(text.contains("- Left out: flash: there is no target of NVMe over Fabrics"), text);
    assertFigure(text, "read 64 KiB, 1,000/s, memory", "us p50");
    assertTrue(text.lines().noneMatch(line -> line.startsWith("| read 64 KiB, 1,000/s, flash")));
  }
}
