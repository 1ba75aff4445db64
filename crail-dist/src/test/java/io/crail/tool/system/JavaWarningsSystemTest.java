/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** What a JVM says of a program that uses Crail, with the options that the documentation gives. */
@EnabledForJreRange(min = JRE.JAVA_24, disabledReason = "an older Java warns of nothing")
class JavaWarningsSystemTest {
  private static final Pattern OPTIONS = Pattern.compile("java ((?:--\\S+ )+)-cp");

  private static List<String> warnings(String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(options));
    arguments.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            "io.crail.tool.Main",
            "iobench",
            "--embedded",
            "-t",
            "getFile",
            "-f",
            "/x"));
    try (CrailProcess program =
        CrailProcess.plainJava(Map.of(), arguments.toArray(new String[0]))) {
      assertEquals(0, program.awaitExit(Duration.ofSeconds(120)), program::stderr);
      return program.stderr().lines().filter(line -> line.startsWith("WARNING: ")).toList();
    }
  }

  @Test
  void noneWithTheOptionsOfThePage() throws Exception {
    Matcher options = OPTIONS.matcher(Files.readString(Path.of("..", "docs/java/project.md")));
    assertTrue(options.find());
    assertEquals(List.of(), warnings(options.group(1).split(" ")));
    // Else the page gives them for nothing.
    assertTrue(warnings().toString().contains("restricted"));
  }
}
