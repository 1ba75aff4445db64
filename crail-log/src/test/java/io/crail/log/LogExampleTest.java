/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The example of the page about the log is the one below, and prints what it says. */
@Timeout(120)
class LogExampleTest {
  private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
  private static final Pattern PRINTED = Pattern.compile("println\\(.*\\); // (.*)");

  private static void example(CrailStore store) throws Exception {
    CrailLog log = CrailLog.create(store, "/orders", LogOptions.DEFAULT);
    System.out.println(log.append("first".getBytes())); // 0
    System.out.println(log.append("second".getBytes())); // 1
    System.out.println(new String(log.read(1))); // second

    // Another program takes over: what was sent before, and comes late, is not written.
    CrailLog other = CrailLog.open(store, "/orders");
    System.out.println(other.takeOver("host-2").epoch()); // 2

    // The first program notices, and continues in the new view.
    System.out.println(log.append("third".getBytes())); // 2

    List<String> entries = new ArrayList<>();
    for (long position = 0; position < other.tail(); position++) {
      try {
        entries.add(new String(other.read(position)));
      } catch (NotWrittenException e) {
        other.fill(position); // its writer has died, or is slow
      }
    }
    System.out.println(entries); // [first, second, third]
  }

  @Test
  void itPrintsWhatThePageSays() throws Exception {
    Matcher page = EXAMPLE.matcher(Files.readString(Path.of("../docs/shared-log.md")));
    assertTrue(page.find());
    String source = Files.readString(Path.of("src/test/java/io/crail/log/LogExampleTest.java"));
    assertTrue(inOneLine(source).contains(inOneLine(page.group(1))), page.group(1));
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream usual = System.out;
    try (LogClusters cluster = new LogClusters(1)) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      example(cluster.store());
    } finally {
      System.setOut(usual);
    }
    List<String> expected =
        PRINTED.matcher(page.group(1)).results().map(line -> line.group(1)).toList();
    assertEquals(expected, printed.toString(StandardCharsets.UTF_8).lines().toList());
  }

  private static String inOneLine(String code) {
    return code.replaceAll("\\s+", " ");
  }
}
