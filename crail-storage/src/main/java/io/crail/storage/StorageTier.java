/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/**
 * A kind of storage: how bytes are carried and where they are kept. Found through {@link
 * java.util.ServiceLoader} by its short name: whoever lists tiers asks {@link #all}.
 * Implementations are stateless.
 */
public interface StorageTier {
  /** The short name, for example {@code tcp}; travels on the wire. */
  String name();

  /** The tier's own arguments, after {@code --} on the command line of a datanode. */
  default TierArguments arguments() {
    return TierArguments.NONE;
  }

  /**
   * Creates the server part, without starting it.
   *
   * @param arguments the tier's own, as {@link #arguments} declares them
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
   * What a datanode would take of its host.
   *
   * @param arguments as for {@link #createServer}
   * @throws ConfigException for a bad argument or value
   */
  default PlannedDatanode plan(Configuration configuration, List<String> arguments) {
    return PlannedDatanode.elsewhere(name());
  }

  /**
   * Whether a host with this configuration needs what {@link #examine} looks for even if it uses no
   * storage of this tier.
   */
  default boolean isNeededWithoutStorage(Configuration configuration) {
    return false;
  }

  /**
   * Looks whether this host has what the tier needs, for {@code crail doctor}. Directories, space
   * and ports of the datanodes are examined for every tier alike.
   *
   * @param datanodes those of the tier that are to run here; empty on the host of a client
   */
  default void examine(
      Configuration configuration, List<PlannedDatanode> datanodes, HostFindings findings) {}

  /** The tiers on the class path, by name. */
  static Collection<StorageTier> all() {
    return InstalledTiers.all(
        StorageTier.class, StorageTier.class.getClassLoader(), StorageTier::name);
  }

  /**
   * The tier of a name.
   *
   * @throws ConfigException that names the existing tiers
   */
  static StorageTier find(String name) {
    Collection<StorageTier> tiers = all();
    return tiers.stream()
        .filter(tier -> tier.name().equals(name))
        .findAny()
        .orElseThrow(
            () ->
                new ConfigException(
                    "no storage tier '"
                        + name
                        + "' on the class path; there are: "
                        + tiers.stream().map(StorageTier::name).toList()));
  }
}
