/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A configuration file of any bytes. It must be refused with place and reason, or be read and kept.
 */
final class ConfigurationTarget implements Target {
  private static final Map<String, String> ENVIRONMENT = Map.of("HOME", "/home/a", "EMPTY", "");

  /** The allocation for a short file: all keys are declared, and each value is parsed. */
  private static final int MOST_BYTES = 64 << 10;

  private final List<ConfigKey<?>> keys = new ArrayList<>();
  private final Path file = Files.createTempFile("crail-fuzz", ".conf");

  ConfigurationTarget() throws IOException {
    Configuration.declarations().forEach(room -> keys.addAll(room.keys()));
  }

  @Override
  public void run(byte[] bytes) throws IOException {
    Files.write(file, bytes);
    Require.modest("a file", MOST_BYTES, this::check);
  }

  private void check() {
    try {
      Configuration configuration = Configuration.builder().load(file, ENVIRONMENT::get).build();
      Require.equal(
          configuration.texts(), configuration.toBuilder().build().texts(), "a copied one");
      // Every checked value can be used.
      keys.forEach(configuration::get);
    } catch (ConfigException e) {
      Require.that(e.getMessage() != null && !e.getMessage().isBlank(), "no reason");
    }
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
            "# comment\ncrail.namenode.address crail://localhost:9060\ncrail.blocksize=1m\n",
            "crail.storage.tcp.datapath ${HOME}/data\ncrail.lease = 10s\r\n",
            "crail.cachepath $EMPTY\ncrail.storage.types io.crail.storage.tcp.TcpStorageTier\n")
        .stream()
        .map(text -> text.getBytes(StandardCharsets.UTF_8))
        .toList();
  }

  @Override
  public void close() throws IOException {
    Files.delete(file);
  }
}
