/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.nvmf.NvmeHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who a host is, by the files that nvme-cli has for it. */
class NvmfStorageKeysTest {
  private static final String NAME = "nqn.2014-08.org.nvmexpress:uuid:";
  private static final String OF_NAME = "9e4ba7c4-7b9e-4c4e-9a0c-0f5e8d1c2b3a";
  private static final String ID = "11111111-2222-3333-4444-555555555555";

  @TempDir private Path directory;

  private void write(String file, String text) throws Exception {
    Files.writeString(directory.resolve(file), text + "\n");
  }

  private NvmeHost host(String name) {
    Configuration configuration =
        Configuration.builder().set(NvmfStorageKeys.HOST_NQN, name).build();
    return NvmfStorageKeys.host(configuration, directory);
  }

  @Test
  void theUsualNameHasTheUsualId() throws Exception {
    write("hostid", ID);
    assertEquals(host(""), host(host("").nqn()), "an id without its name");
    write("hostnqn", NAME + OF_NAME);
    assertEquals(new NvmeHost(NAME + OF_NAME, UUID.fromString(ID), host("").secrets()), host(""));
    assertEquals(host(""), host(NAME + OF_NAME), "the same name by its key");
    assertEquals(NvmeHost.named("nqn.2026-11.a:b"), host("nqn.2026-11.a:b"), "another name");
    Files.delete(directory.resolve("hostid"));
    assertEquals(UUID.fromString(OF_NAME), host("").id());
  }

  @Test
  void anIdThatIsNoneIsRefused() throws Exception {
    write("hostnqn", NAME + OF_NAME);
    write("hostid", "here");
    String refusal = assertThrows(ConfigException.class, () -> host("")).getMessage();
    assertTrue(refusal.endsWith("hostid has 'here', which is no UUID"), refusal);
    assertEquals(NvmeHost.named("nqn.2026-11.a:b"), host("nqn.2026-11.a:b"), "it is not needed");
  }

  /** As if there were none, processes of one host would have two ids. */
  @Test
  void aFileThatCannotBeReadIsNotTakenForNone() throws Exception {
    write("hostnqn", NAME + OF_NAME);
    Files.createDirectory(directory.resolve("hostid"));
    String refusal = assertThrows(ConfigException.class, () -> host("")).getMessage();
    assertTrue(refusal.contains("hostid cannot be read: "), refusal);
    Files.delete(directory.resolve("hostnqn"));
    Files.createDirectory(directory.resolve("hostnqn"));
    refusal = assertThrows(ConfigException.class, () -> host("")).getMessage();
    assertTrue(refusal.contains("hostnqn cannot be read: "), refusal);
    assertEquals(NvmeHost.named("nqn.2026-11.a:b"), host("nqn.2026-11.a:b"), "it is not needed");
  }
}
