/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
  private static Properties properties(String... namesAndValues) {
    Properties properties = new Properties();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
    }
    return properties;
  }

  private static Settings settings(Map<String, String> environment, String... namesAndValues) {
    return Settings.of(properties(namesAndValues), environment::get);
  }

  @Test
  void withoutAnythingTheDefaultsOfApacheCrailsBindingHold() {
    Settings settings = settings(Map.of());
    assertEquals("usertable", settings.table());
    assertFalse(settings.enumerateKeys());
    assertEquals(Map.of(), settings.configuration().texts());
  }

  @Test
  void propertiesOfYcsbGoBeforeTheSiteFile(@TempDir Path home) throws Exception {
    Files.createDirectory(home.resolve("conf"));
    Files.writeString(
        home.resolve("conf/crail-site.conf"), "crail.rpctimeout 7s\ncrail.datatimeout 8s\n");
    Settings settings =
        settings(
            Map.of("CRAIL_HOME", home.toString()),
            "Crail.rpcTimeout",
            "9s",
            "crail.enumeratekeys",
            "TRUE",
            "recordcount",
            "10",
            "table",
            "other");
    assertEquals(
        Map.of("crail.rpctimeout", "9s", "crail.datatimeout", "8s"),
        settings.configuration().texts());
    assertEquals("other", settings.table());
    assertTrue(settings.enumerateKeys());
  }

  @Test
  void unusableSettingsAreNamed() {
    String message =
        assertThrows(
                IllegalArgumentException.class, () -> settings(Map.of(), "crail.nosuchkey", "1"))
            .getMessage();
    assertTrue(message.contains("crail.nosuchkey"), message);
    message =
        assertThrows(
                IllegalArgumentException.class,
                () -> settings(Map.of(), "crail.enumeratekeys", "yes"))
            .getMessage();
    assertTrue(message.contains("crail.enumeratekeys"), message);
  }
}
