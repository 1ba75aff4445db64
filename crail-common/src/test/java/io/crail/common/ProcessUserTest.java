/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessUserTest {
  private static final String NAME = "user.name";

  @Test
  void filesOfThisProcessBelongToIt(@TempDir Path directory) throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertEquals(Files.getAttribute(file, "unix:uid"), ProcessUser.id());
  }

  /** Two of them would be one. */
  @Test
  void aUserWithoutANameIsItsNumber() {
    String name = System.getProperty(NAME);
    assertEquals(name, ProcessUser.name());
    try {
      System.setProperty(NAME, "?");
      assertEquals(ProcessUser.idText(), ProcessUser.name());
    } finally {
      System.setProperty(NAME, name);
    }
  }
}
