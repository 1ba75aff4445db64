/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ApacheKeys;
import io.crail.common.config.ApacheKeys.ApacheKey;
import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.storage.StorageTier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The keys of Apache Crail, beside all keys of this one. */
class ApacheKeysTest {
  @TempDir Path directory;

  static List<ApacheKey> keys() {
    return ApacheKeys.ALL;
  }

  private static Map<String, ConfigKey<?>> own() {
    Map<String, ConfigKey<?>> own = new TreeMap<>();
    Configuration.declarations().forEach(room -> room.keys().forEach(k -> own.put(k.name(), k)));
    return own;
  }

  private static Configuration with(String name, String text) {
    return Configuration.builder()
        .set("crail.namenode.rpctype", "darpc", "a file")
        .set(name, text, "a file")
        .build();
  }

  @Test
  void theyAreAll() {
    // 67 with their names in its code, 7 of its flash tier, and one in its documentation only.
    assertEquals(75, keys().size());
    assertEquals(75, keys().stream().map(ApacheKey::name).distinct().count());
  }

  @ParameterizedTest
  @MethodSource("keys")
  void eachHasItsPlaceOrAReason(ApacheKey key) {
    Map<String, ConfigKey<?>> own = own();
    if (key.key().isEmpty()) {
      // What has a place here has it under its name.
      assertFalse(own.containsKey(key.name()));
      assertFalse(key.now().isBlank());
      if (key.others() == ApacheKeys.Others.KEPT) {
        assertEquals(1, with(key.name(), "1").warnings().size());
      } else {
        String refused =
            assertThrows(ConfigException.class, () -> with(key.name(), "true")).getMessage();
        assertTrue(refused.endsWith(key.now()), refused);
      }
    } else {
      assertTrue(own.containsKey(key.key()), key.key());
      assertEquals(key.name().equals(key.key()), own.containsKey(key.name()));
    }
    key.words()
        .forEach(
            (there, here) -> {
              Configuration read = with(key.name(), there);
              assertEquals(here.isEmpty() ? null : here, read.texts().get(key.key()), there);
            });
  }

  @Test
  void itsTemplatesCanBeUsed() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("crail-site.conf"),
            """
            crail.namenode.address            crail://localhost:9060
            crail.namenode.rpctype            org.apache.crail.namenode.rpc.darpc.DaRPCNameNode
            crail.namenode.darpc.polling      true
            crail.cachepath                   /dev/hugepages/cache
            crail.cachelimit                  1073741824
            crail.storage.tcp.interface       eth0
            crail.storage.tcp.datapath        /dev/hugepages/data
            crail.storage.tcp.storagelimit    1073741824
            crail.storage.types               org.apache.crail.storage.rdma.RdmaStorageTier
            crail.storage.rdma.queuesize      64
            """);
    Ran getconf = Ran.run(directory, "getconf");
    assertEquals(0, getconf.code(), getconf.stderr());
    assertEquals(
        3, getconf.stderr().lines().filter(line -> line.startsWith("crail: warning: ")).count());
    assertTrue(getconf.stderr().contains(file + ":4: key 'crail.cachepath'"), getconf.stderr());
    for (String line :
        List.of(
            "crail.namenode.rpctype darpc",
            "crail.storage.types rdma",
            "crail.spintime always",
            "crail.storage.rdma.queuedepth 64")) {
      assertTrue(
          getconf
              .stdout()
              .lines()
              .map(each -> each.replaceAll(" +", " "))
              .anyMatch(each -> each.startsWith(line + " (" + file)),
          getconf.stdout());
    }
  }

  /** By its keys a program knows a tier that it does not have itself. */
  @Test
  void everyTierOfCrailHasKeys() {
    int tiers = 0;
    for (StorageTier tier : StorageTier.all()) {
      if (tier.getClass().getName().startsWith("io.crail.storage.")) {
        tiers++;
        String keys = "crail.storage." + tier.name() + ".";
        assertTrue(Configuration.hasKeysBelow(keys), keys);
      }
    }
    assertTrue(tiers >= 3, tiers + " tiers");
  }
}
