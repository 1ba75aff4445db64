/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.shell;

import io.crail.common.error.IncompleteException;
import io.crail.hadoop.CrailFileSystem;
import io.crail.tool.command.Siblings;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The file system of the shell. It differs in three ways from that of programs.
 *
 * <p>When a Hadoop program lists the root and a part is missing, it must get an exception, or it
 * would take the missing files for deleted. A user at a shell is better served with the available
 * part and a note about the missing one.
 *
 * <p>The shell writes a file under a temporary name, and then gives it its own. In the root, and in
 * a spread directory, both have to lie at one namenode, so that a rename can lead from one to the
 * other: the temporary name gets a number that makes it so.
 *
 * <p>Where the shell would only say that something failed, this says why.
 */
final class ShellFileSystem extends CrailFileSystem {
  /** How the shell ends a temporary name. */
  private static final String TEMPORARY = "._COPYING_";

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

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockBytes,
      Progressable progress)
      throws IOException {
    return super.create(
        placed(path), permission, overwrite, bufferSize, replication, blockBytes, progress);
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return super.getFileStatus(placed(path));
  }

  @Override
  public boolean rename(Path source, Path target) throws IOException {
    return super.rename(placed(source), target);
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    if (makeQualified(path).isRoot()) {
      throw new PathIOException(
          "/", "The root cannot be removed; '/*' stands for all that is in it");
    }
    return super.delete(placed(path), recursive);
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    throw new PathIOException(
        path.toUri().getPath(), "Crail cannot shorten a file; write it again, or remove it");
  }

  /** The place of a path: that of a temporary name is at the namenode of the final one. */
  private Path placed(Path path) throws IOException {
    int count = namenodes();
    Path absolute = makeQualified(path);
    String name = absolute.getName();
    boolean temporary = name.endsWith(TEMPORARY) && name.length() > TEMPORARY.length();
    if (count < 2 || !temporary || !isSpread(absolute.getParent())) {
      return path;
    }
    String finalName = name.substring(0, name.length() - TEMPORARY.length());
    String sibling = Siblings.of("/" + finalName, count, attempt -> "/" + name + attempt);
    Path directory = absolute.getParent();
    // A name alone, with a colon, would be taken for a URI.
    return makeQualified(
        new Path(directory.isRoot() ? sibling : directory.toUri().getPath() + sibling));
  }

  /** The namenodes of this file system: those of its URI, or else of the configuration. */
  private int namenodes() {
    String authority = getUri().getAuthority();
    if (authority != null && !authority.isEmpty()) {
      return authority.split(",").length;
    }
    return shell == null ? 1 : shell.namenodes();
  }
}
