/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.Configuration;
import io.crail.protocol.part.TextLimits;
import java.util.List;
import java.util.Set;

/** The keys that all tiers share. */
public final class StorageKeys implements ConfigKeys {
  /** The tiers of the cluster. */
  public static final ConfigKey<List<String>> TYPES =
      ConfigKey.of(
              "crail.storage.types",
              ConfigType.LIST,
              "tcp",
              "Storage tiers by short name, the preferred one first. The position of a tier"
                  + " is the storage class of its datanodes, unless they are given another.")
          .check(list -> list.isEmpty() ? "must name a tier" : null)
          .check(list -> list.size() > Set.copyOf(list).size() ? "must name each tier once" : null)
          .check(StorageKeys::checkTiers);

  /** Whether clients map regions. */
  public static final ConfigKey<Boolean> LOCAL_MAP =
      ConfigKey.of(
          "crail.storage.localmap",
          ConfigType.BOOLEAN,
          "true",
          "Whether a client maps the regions of a datanode on its own host instead of using"
              + " the network. Only processes of the datanode's own user may map them. If a client"
              + " cannot, it uses the network and says so once.");

  /** The name that a datanode registers. */
  public static final ConfigKey<String> HOST =
      ConfigKey.of(
              "crail.storage.host",
              ConfigType.STRING,
              "",
              "Name or address by which clients reach this datanode; empty: the address that its"
                  + " tier serves on.")
          .check(TextLimits::checkHost);

  /** Whether datanodes keep their bytes. */
  public static final ConfigKey<Boolean> KEEP =
      ConfigKey.of(
          "crail.storage.keep",
          ConfigType.BOOLEAN,
          "false",
          "Whether a datanode leaves its bytes to the next process that is started with the same"
              + " data path, which takes its place. Bytes in /dev/shm outlast the process, those in"
              + " files of a disk also a restart of the host, if the datanode has ended in order"
              + " before. For memory of hosts; flash behind NVMe over Fabrics is not kept.");

  /**
   * A tier exists if Crail has keys for it, or if it is here. A program need not have all of those
   * that its site file names.
   */
  private static String checkTiers(List<String> names) {
    names.stream()
        .filter(name -> !Configuration.hasKeysBelow("crail.storage." + name + "."))
        .forEach(StorageTier::find);
    return null;
  }

  @Override
  public String title() {
    return "Storage";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(TYPES, LOCAL_MAP, HOST, KEEP);
  }
}
