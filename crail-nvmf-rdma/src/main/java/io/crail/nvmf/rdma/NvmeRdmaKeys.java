/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import java.util.List;

/** The keys of NVMe over RDMA. */
public final class NvmeRdmaKeys implements ConfigKeys {
  /** How much user memory a client keeps registered. */
  public static final ConfigKey<Long> REGISTRATION_LIMIT =
      ConfigKey.of(
              "crail.storage.nvmf.registrationlimit",
              ConfigType.BYTES,
              "1g",
              "Bytes of users' memory that a client keeps registered with each RDMA device, of one"
                  + " loop, for targets to read and write; what was not used for longest makes"
                  + " room. The limit of locked memory (ulimit -l) applies as well.")
          .between(1 << 20, 1L << 50);

  /** Creates the keys; for {@link java.util.ServiceLoader}. */
  public NvmeRdmaKeys() {}

  @Override
  public String title() {
    return "NVMf tier over RDMA";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(REGISTRATION_LIMIT);
  }
}
