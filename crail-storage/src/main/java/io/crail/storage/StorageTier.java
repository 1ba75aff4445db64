/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;

/**
 * A kind of storage: how bytes are carried and where they lie. Found through {@link ServiceLoader}
 * by its short name. Implementations are stateless.
 */
public interface StorageTier {
  /** The names of Crail's own tiers. A program may have some of them only. */
  Set<String> NAMES = Set.of("nvmf", "rdma", "tcp");

  /** The short name, for example {@code tcp}; travels on the wire. */
  String name();

  /**
   * Creates the server part, without starting it.
   *
   * @param arguments the tier's own arguments, after {@code --} on the command line
   * @throws ConfigException for a bad argument or value
   */
  StorageServer createServer(Configuration configuration, List<String> arguments);

  /**
   * The arguments for a datanode beside others in one process: a free port, and its share of what
   * there is.
   *
   * @param directory for region files
   * @param bytes what it lends
   */
  default List<String> sharedArguments(Path directory, long bytes) {
    return List.of("-p", "0", "-d", directory.toString(), "-s", String.valueOf(bytes));
  }

  /** Creates the client part. */
  StorageClient createClient(StorageClient.Context context) throws CrailException;

  /**
   * The tier of a name.
   *
   * @throws ConfigException that names the existing tiers
   */
  static StorageTier find(String name) {
    TreeSet<String> known = new TreeSet<>();
    for (StorageTier tier :
        ServiceLoader.load(StorageTier.class, StorageTier.class.getClassLoader())) {
      if (tier.name().equals(name)) {
        return tier;
      }
      known.add(tier.name());
    }
    throw new ConfigException(
        "no storage tier '" + name + "' on the class path; there are: " + known);
  }
}
