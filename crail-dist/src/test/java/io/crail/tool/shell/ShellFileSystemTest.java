/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Addresses;
import io.crail.embedded.EmbeddedCrail;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Where the shell's temporary names are, with several namenodes. */
@Tag("once")
class ShellFileSystemTest {
  private static final int FILES = 8;

  private EmbeddedCrail cluster;
  private ShellFileSystem system;

  @BeforeEach
  void start() throws Exception {
    cluster =
        EmbeddedCrail.builder()
            .namenodes(3)
            .storage(64 << 20)
            .set("crail.storage.tcp.allocationsize", "16m")
            .set("crail.rpctimeout", "60s")
            .start();
    String authority =
        cluster.namenodeAddresses().stream().map(Addresses::text).collect(Collectors.joining(","));
    Configuration configuration = new Configuration();
    configuration.set("crail.client.spread", "/spread,/in/*");
    system = new ShellFileSystem();
    system.initialize(URI.create("crail://" + authority + "/"), configuration);
  }

  @AfterEach
  void stop() throws Exception {
    system.close();
    cluster.close();
  }

  private List<String> names(String directory) throws Exception {
    return Arrays.stream(system.listStatus(new Path(directory)))
        .map(each -> each.getPath().getName())
        .sorted()
        .toList();
  }

  /** What the shell does for {@code -put} and {@code -cp}. */
  private void assertCopies(String directory) throws Exception {
    for (int i = 0; i < FILES; i++) {
      Path to = new Path(directory + "/put" + i);
      Path temporary = to.suffix("._COPYING_");
      system.create(temporary).close();
      assertTrue(system.getFileStatus(temporary).isFile());
      assertTrue(system.rename(temporary, to));
      assertFalse(system.exists(temporary));
      system.create(temporary).close();
      assertTrue(system.delete(temporary, false));
      assertTrue(system.exists(to));
    }
  }

  @Test
  void aCopyGetsItsNameInTheRoot() throws Exception {
    assertCopies("");
    assertEquals(FILES, names("/").size());
  }

  @Test
  void aCopyGetsItsNameInASpreadDirectory() throws Exception {
    for (String directory : List.of("/spread", "/in/a:b")) {
      assertTrue(system.mkdirs(new Path(directory)));
      assertCopies(directory);
      assertEquals(FILES, names(directory).size());
    }
  }

  @Test
  void aNameIsWhatItIsInAnOrdinaryDirectory() throws Exception {
    assertTrue(system.mkdirs(new Path("/ordinary")));
    assertCopies("/ordinary");
    for (int i = 0; i < FILES; i++) {
      assertTrue(system.delete(new Path("/ordinary/put" + i), false));
    }
    system.create(new Path("/ordinary/a._COPYING_")).close();
    assertEquals(List.of("a._COPYING_"), names("/ordinary"));
  }
}
