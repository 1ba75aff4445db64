/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.config.Configuration;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageTier;
import io.crail.tool.command.CommonOptions;
import io.crail.tool.command.UsageException;
import io.crail.tool.server.DatanodeCommand;
import java.util.List;

/**
 * A datanode that conf/datanodes names. Only the scripts read that file: the launcher passes the
 * lines that start-crail would use.
 *
 * @param host where it is to run
 * @param arguments those of {@code crail datanode}
 */
record ListedDatanode(String host, List<String> arguments) {
  private static final String LINES = "crail.datanodes";

  /** All of them; none when there is no file. */
  static List<ListedDatanode> all() {
    return System.getProperty(LINES, "")
        .lines()
        .map(line -> List.of(line.strip().split("\\s+")))
        .map(words -> new ListedDatanode(words.get(0), words.subList(1, words.size())))
        .toList();
  }

  /**
   * The datanode that the line stands for, by its arguments and the configuration.
   *
   * @throws UsageException for arguments that {@code crail datanode} refuses; a {@code
   *     ConfigException} likewise
   */
  PlannedDatanode datanode(Configuration configuration) throws UsageException {
    CommonOptions options = CommonOptions.parse(arguments, false);
    Configuration.Builder builder = configuration.toBuilder();
    options.settings().forEach((key, value) -> builder.set(key, value, "conf/datanodes"));
    Configuration own = builder.build();
    DatanodeCommand.Wanted wanted =
        DatanodeCommand.wanted(new DatanodeCommand().parse(options.rest()), own);
    return StorageTier.find(wanted.tier()).plan(own, wanted.tierArguments());
  }

  @Override
  public String toString() {
    return (host + " " + String.join(" ", arguments)).strip();
  }
}
