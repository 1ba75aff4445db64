/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import java.util.List;

/** The keys of the initiator that SPDK drives. */
public final class SpdkKeys implements ConfigKeys {
  /** Whether SPDK does without huge pages. */
  public static final ConfigKey<Boolean> NO_HUGE =
      ConfigKey.of(
          "crail.storage.nvmf.spdk.nohuge",
          ConfigType.BOOLEAN,
          "true",
          "Whether SPDK's own memory is of usual pages rather than huge ones, which a machine has"
              + " to set aside. The first use in a process decides.");

  /** How much memory SPDK takes. */
  public static final ConfigKey<Integer> MEMORY =
      ConfigKey.of(
              "crail.storage.nvmf.spdk.memory",
              ConfigType.INT,
              "64",
              "The most memory that SPDK takes for itself in a process, in MiB, for its controllers"
                  + " and queues. Connections for which there is none left fail. Over RDMA all of it"
                  + " is locked.")
          .between(32, 65_536);

  /** Creates the keys; for {@link java.util.ServiceLoader}. */
  public SpdkKeys() {}

  @Override
  public String title() {
    return "NVMf tier with SPDK";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(NO_HUGE, MEMORY);
  }
}
