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
}
