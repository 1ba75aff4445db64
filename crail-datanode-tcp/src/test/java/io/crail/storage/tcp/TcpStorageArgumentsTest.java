/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TcpStorageArgumentsTest {
  private static final Configuration DEFAULTS = Configuration.defaults();

  @Test
  void argumentsReplaceValues() {
    Configuration before =
        Configuration.builder()
            .set(TcpStorageKeys.PORT, 1)
            .set(TcpStorageKeys.PREALLOCATE, true)
            .build();
    Configuration after =
        TcpStorageKeys.HOST
            .arguments()
            .apply(before, List.of("-p", "0", "-d", "/data", "-s", "64m", "-i", "::1"));
    assertEquals(0, after.get(TcpStorageKeys.PORT));
    assertEquals("/data", after.get(TcpStorageKeys.DATA_PATH));
    assertEquals(64L << 20, after.get(TcpStorageKeys.STORAGE_LIMIT));
    assertEquals("::1", after.get(TcpStorageKeys.INTERFACE));
    assertTrue(after.get(TcpStorageKeys.PREALLOCATE));
    assertEquals(before, TcpStorageKeys.HOST.arguments().apply(before, List.of()));
  }

  @Test
  void badArgumentsAreNamed() {
    refuses(List.of("-x", "1"), "'-x'");
    refuses(List.of("50020"), "'50020'");
    refuses(List.of("-p"), "-p needs a value");
    refuses(List.of("-p", "1", "-p", "2"), "-p is given twice");
    refuses(List.of("-p", "70000"), "70000");
    refuses(List.of("-p", "http"), "argument -p");
    refuses(List.of("-s", "lots"), "argument -s");
  }

  private static void refuses(List<String> arguments, String part) {
    ConfigException refusal =
        assertThrows(
            ConfigException.class,
            () -> TcpStorageKeys.HOST.arguments().apply(DEFAULTS, arguments));
    assertTrue(refusal.getMessage().contains(part), refusal.getMessage());
  }
}
