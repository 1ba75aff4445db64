/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Compares the generated pages; {@code ci/docs --update} writes them anew. */
class ReferencePagesTest {
  @Test
  void configurationPageIsUpToDate() throws IOException {
    compare("configuration.md", ReferencePages.configuration());
  }

  @Test
  void wireProtocolPageIsUpToDate() throws IOException {
    compare("wire-protocol.md", ReferencePages.wireProtocol());
  }

  private static void compare(String name, String expected) throws IOException {
    Path page = Path.of("..", "docs", name);
    if (Boolean.getBoolean("crail.docs.update")) {
      Files.createDirectories(page.getParent());
      Files.writeString(page, expected);
    }
    assertEquals(
        expected,
        Files.exists(page) ? Files.readString(page) : "",
        () -> "docs/" + name + " is out of date: run ci/docs --update");
  }
}
