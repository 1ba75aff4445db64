/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.client.ClientKeys;
import io.crail.common.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrailConfigurationTest {
  @TempDir Path directory;

  @Test
  void valuesAreKeptAsTextAndCheckedWhenFrozen() {
    CrailConfiguration configuration = new CrailConfiguration();
    assertNull(configuration.get("crail.buffersize"));
    configuration.setInt("crail.buffersize", 8192);
    configuration.set("crail.statistics", "false");
    assertEquals("8192", configuration.get("crail.buffersize"));
    assertFalse(configuration.getBoolean("crail.statistics", true));
    assertTrue(configuration.getBoolean("crail.directoryrandomize", true));
    assertEquals(8192, configuration.toConfiguration().get(ClientKeys.BUFFER_SIZE));
    CrailConfiguration copy = CrailConfiguration.of(configuration.toConfiguration());
    assertEquals("8192", copy.get("crail.buffersize"));
    configuration.set("crail.bufersize", "1");
    ConfigException unknown = assertThrows(ConfigException.class, configuration::toConfiguration);
    assertTrue(unknown.getMessage().contains("crail.buffersize"), unknown.getMessage());
  }

  @Test
  void theLetterCaseOfAKeyDoesNotMatter() {
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set("crail.bufferSize", "64k");
    configuration.set("crail.NameNode.address", "crail://a:1");
    configuration.set("crail.namenode.address", "crail://b:2");
    configuration.set("crail.Singleton", "true");
    assertEquals("64k", configuration.get("CRAIL.buffersize"));
    assertEquals("crail://b:2", configuration.get("crail.NameNode.address"));
    assertTrue(configuration.getBoolean("crail.singleton", false));
    configuration.setInt("crail.BUFFERSIZE", 8192);
    assertEquals(8192, configuration.toConfiguration().get(ClientKeys.BUFFER_SIZE));
  }

  @Test
  void readsAFile() throws Exception {
    Path file = directory.resolve("crail-site.conf");
    Files.writeString(file, "# comment\ncrail.buffersize  64k\ncrail.slicesize=32k\n");
    CrailConfiguration configuration =
        CrailConfiguration.createConfigurationFromFile(file.toString());
    assertEquals("64k", configuration.get("crail.buffersize"));
    Files.writeString(file, "crail.buffersize  many\n");
    ConfigException bad =
        assertThrows(
            ConfigException.class,
            () -> CrailConfiguration.createConfigurationFromFile(file.toString()));
    assertTrue(bad.getMessage().contains(file + ":1"), bad.getMessage());
  }

  @Test
  void theSiteFileIsThatOfTheConfigurationDirectory() throws Exception {
    Path home = Files.createDirectories(directory.resolve("home/conf")).getParent();
    Files.writeString(home.resolve("conf/crail-site.conf"), "crail.buffersize 64k\n");
    Map<String, String> environment = new HashMap<>(Map.of("CRAIL_HOME", home.toString()));
    assertEquals("64k", CrailConfiguration.fromFile(environment::get).get("crail.buffersize"));
    Files.writeString(directory.resolve("crail-site.conf"), "crail.buffersize 32k\n");
    environment.put("CRAIL_CONF_DIR", directory.toString());
    assertEquals("32k", CrailConfiguration.fromFile(environment::get).get("crail.buffersize"));
    IllegalArgumentException none =
        assertThrows(
            IllegalArgumentException.class, () -> CrailConfiguration.fromFile(name -> null));
    assertTrue(none.getMessage().contains("CRAIL_CONF_DIR"), none.getMessage());
    assertNull(new CrailConfiguration().get("crail.buffersize"));
  }

  /** Apache Crail's rule. So a buffer size alone, below the default of slices, is enough. */
  @Test
  void slicesAreNotLargerThanBuffers() {
    assertEquals(4096, sliceBytes("4096", null));
    assertEquals(512 << 10, sliceBytes("4m", null));
    assertEquals(64 << 10, sliceBytes("64k", "128k"));
    String refused =
        assertThrows(ConfigException.class, () -> sliceBytes("768k", null)).getMessage();
    assertTrue(refused.contains("crail.slicesize") && refused.contains("786432"), refused);
  }

  private static int sliceBytes(String buffer, String slice) {
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set("crail.buffersize", buffer);
    if (slice != null) {
      configuration.set("crail.slicesize", slice);
    }
    return ClientKeys.sliceBytes(configuration.toConfiguration());
  }

  @Test
  void aTierThatDoesNotExistIsRefused() {
    CrailConfiguration configuration = new CrailConfiguration();
    configuration.set("crail.storage.types", "nvmf,rdma");
    configuration.toConfiguration();
    configuration.set("crail.storage.types", "tcp,nonsense");
    String refused =
        assertThrows(ConfigException.class, configuration::toConfiguration).getMessage();
    assertTrue(refused.contains("crail.storage.types") && refused.contains("'nonsense'"), refused);
  }
}
