/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.shell;

import io.crail.common.error.IncompleteException;
import io.crail.hadoop.CrailFileSystem;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * The file system of the shell. When a Hadoop program lists the root and a part is missing, it must
 * get an exception, or it would take the missing files for deleted. A user at a shell is better
 * served with the available part and a note about the missing one.
 */
final class ShellFileSystem extends CrailFileSystem {
  private ShellConfiguration shell;

  /** Called by Hadoop. */
  ShellFileSystem() {}

  @Override
  public void initialize(URI name, Configuration configuration) throws IOException {
    super.initialize(name, configuration);
    shell = configuration instanceof ShellConfiguration its ? its : null;
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    RemoteIterator<FileStatus> each = super.listStatusIterator(path);
    return new RemoteIterator<>() {
      @Override
      public boolean hasNext() throws IOException {
        try {
          return each.hasNext();
        } catch (IOException e) {
          if (shell != null && e.getCause() instanceof IncompleteException incomplete) {
            shell.note(incomplete);
            return false;
          }
          throw e;
        }
      }

      @Override
      public FileStatus next() throws IOException {
        return each.next();
      }
    };
  }
}
