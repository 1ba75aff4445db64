/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import io.crail.common.Addresses;
import io.crail.hadoop.CrailFileSystem;
import io.crail.protocol.ClusterKeys;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.shell.CommandFactory;
import org.apache.hadoop.fs.shell.FsCommand;
import org.apache.hadoop.util.ToolRunner;

/** The only class of the commands that needs Hadoop; the others run without. */
final class HadoopShell extends FsShell {
  private HadoopShell(Configuration configuration) {
    super(configuration);
  }

  /**
   * Runs a command line of the shell.
   *
   * @param crail the cluster
   * @param more keys of Hadoop, and the user if it is not to be Hadoop's
   * @return the exit code
   */
  static int run(
      io.crail.common.config.Configuration crail, Map<String, String> more, List<String> arguments)
      throws Exception {
    Configuration hadoop = new Configuration();
    hadoop.set(CommonConfigurationKeysPublic.FS_DEFAULT_NAME_KEY, root(crail).toString());
    // All of it: the file may be another one than programs find.
    hadoop.set(CrailFileSystem.SITE_FILE_KEY, "");
    Map<String, String> texts = crail.texts();
    // That of the file is the root's owner, and not who sits here.
    texts.remove(ClusterKeys.USER.name());
    texts.forEach(hadoop::set);
    more.forEach(hadoop::set);
    try {
      return ToolRunner.run(new HadoopShell(hadoop), arguments.toArray(new String[0]));
    } finally {
      FileSystem.closeAll();
    }
  }

  /** The root of the file system; it names the namenodes where an URI can. */
  private static URI root(io.crail.common.config.Configuration crail) {
    List<InetSocketAddress> namenodes = crail.get(ClusterKeys.NAMENODE_ADDRESS);
    String authority = namenodes.stream().map(Addresses::text).collect(Collectors.joining(","));
    boolean unnameable = namenodes.size() > 1 && authority.contains("[");
    return URI.create("crail://" + (unnameable ? "" : authority) + "/");
  }

  /** Those of Hadoop, which its shell keeps from those who extend it. */
  @Override
  protected void registerCommands(CommandFactory factory) {
    factory.registerCommands(FsCommand.class);
  }

  @Override
  protected String getUsagePrefix() {
    return "Usage: crail fs [options]";
  }
}
