/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Compares the generated pages and lists; {@code ci/docs --update} writes them anew. */
class ReferencePagesTest {
  @Test
  void configurationPageIsUpToDate() throws IOException {
    compare("docs/configuration.md", ReferencePages.configuration());
  }

  @Test
  void listOfKeysIsUpToDate() throws IOException {
    compare(
        "crail-common/src/main/resources/io/crail/common/config/keys.txt", ReferencePages.keys());
  }

  @Test
  void wireProtocolPageIsUpToDate() throws IOException {
    compare("docs/wire-protocol.md", ReferencePages.wireProtocol());
  }

  @Test
  void refusedKeysOfSparkAreUpToDate() throws IOException {
    String name = "docs/spark/porting.md";
    compare(name, ReferencePages.spark(Files.readString(Path.of("..", name))));
  }

  @Test
  void tableOfMetricsIsUpToDate() throws IOException {
    String name = "docs/metrics.md";
    compare(name, ReferencePages.metrics(Files.readString(Path.of("..", name))));
  }

  @Test
  void keysOfApacheCrailAreUpToDate() throws IOException {
    String name = "docs/porting-keys.md";
    compare(name, ReferencePages.porting(Files.readString(Path.of("..", name))));
  }

  private static void compare(String name, String expected) throws IOException {
    Path page = Path.of("..", name);
    if (Boolean.getBoolean("crail.docs.update")) {
      Files.createDirectories(page.getParent());
      Files.writeString(page, expected);
    }
    assertEquals(
        expected,
        Files.exists(page) ? Files.readString(page) : "",
        () -> name + " is out of date: run ci/docs --update");
  }
}
