/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalBytesTest {
  @TempDir Path directory;

  @Test
  void theMostIsRememberedWhenFilesAreDeleted() throws Exception {
    Path inner = Files.createDirectories(directory.resolve("a/b"));
    try (LocalBytes bytes = LocalBytes.watch(directory)) {
      assertEquals(0, bytes.most());
      Files.write(inner.resolve("c"), new byte[1000]);
      Files.write(directory.resolve("d"), new byte[234]);
      assertEquals(1234, bytes.most());
      Files.delete(inner.resolve("c"));
      assertEquals(1234, bytes.most());
      Files.write(directory.resolve("e"), new byte[2000]);
      assertEquals(2234, bytes.most());
    }
  }
}
