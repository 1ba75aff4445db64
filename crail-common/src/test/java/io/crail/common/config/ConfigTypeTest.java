/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigType.DurationUnit;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigTypeTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "4096, 4096",
    "64k, 65536",
    "64K, 65536",
    "1m, 1048576",
    "1MiB, 1048576",
    "3gb, 3221225472",
    "2t, 2199023255552",
    "512b, 512",
    "9223372036854775807, 9223372036854775807"
  })
  void bytes(String text, long expected) {
    assertEquals(expected, ConfigType.parseBytes(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "k", "-1", "1.5m", "1x", "0x10", "9223372036854775808", "9000000t"})
  void badBytes(String text) {
    assertThrows(IllegalArgumentException.class, () -> ConfigType.parseBytes(text));
  }

  @ParameterizedTest
  @CsvSource({"10, 10000", "10s, 10000", "250ms, 250", "5m, 300000", "0, 0"})
  void durationsInSeconds(String text, long millis) {
    assertEquals(Duration.ofMillis(millis), ConfigType.duration(DurationUnit.SECONDS).parse(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "s", "-1", "1h", "1.5s", "9223372036854775807m"})
  void badDurations(String text) {
    assertThrows(
        IllegalArgumentException.class,
        () -> ConfigType.duration(DurationUnit.SECONDS).parse(text));
  }

  @ParameterizedTest
  @CsvSource({
    "crail://localhost:9060, localhost, 9060",
    "crail://localhost:9060/, localhost, 9060",
    "host-1.example:1, host-1.example, 1",
    "127.0.0.1:0, 127.0.0.1, 0",
    "crail://[::1]:65535, ::1, 65535",
    "[fe80::1]:7, fe80::1, 7",
    "crail://[fe80::1%eth0]:7, fe80::1%eth0, 7",
    "crail://my_stack_namenode:9060, my_stack_namenode, 9060",
    "crail://_name_._host_.:9060, _name_._host_., 9060",
    "1a:1, 1a, 1"
  })
  void addresses(String text, String host, int port) {
    InetSocketAddress address = ConfigType.parseAddress(text);
    assertEquals(host, address.getHostString());
    assertEquals(port, address.getPort());
    assertTrue(address.isUnresolved(), "names are resolved when they are used");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "localhost",
        "crail://localhost",
        "crail://:9060",
        "http://localhost:9060",
        "crail://localhost:65536",
        "crail://localhost:-1",
        "crail://a:1/path",
        "crail://user@a:1",
        "crail://a:1?x=y",
        "::1:9060",
        "a b:1",
        "[a]:1",
        "[::1:1",
        "[]:1",
        "a..b:1",
        "-a:1",
        "999.0.0.1:1",
        "10.0.1:1",
        "a:1:2",
        "a#b:1",
        "h\u00f6st:1",
        "a:+1",
        "crail://crail://a:1"
      })
  void badAddresses(String text) {
    assertThrows(IllegalArgumentException.class, () -> ConfigType.parseAddress(text));
  }

  @Test
  void listsMayHaveSpacesAndEmptyParts() {
    assertEquals(List.of("a", "b c"), ConfigType.LIST.parse(" a ,, b c ,"));
    assertEquals(List.of(), ConfigType.LIST.parse(""));
    assertEquals(2, ConfigType.ADDRESSES.parse("a:1, b:2").size());
  }

  @Test
  void booleansAreTrueOrFalseOnly() {
    assertEquals(true, ConfigType.BOOLEAN.parse("TRUE"));
    assertEquals(false, ConfigType.BOOLEAN.parse("false"));
    assertThrows(IllegalArgumentException.class, () -> ConfigType.BOOLEAN.parse("yes"));
    assertThrows(IllegalArgumentException.class, () -> ConfigType.BOOLEAN.parse("1"));
  }
}
