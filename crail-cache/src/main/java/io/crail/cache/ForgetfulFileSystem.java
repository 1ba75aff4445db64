/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Changes go to the source. What was known of the files that they change is forgotten before they
 * return, whether they succeed or not.
 */
abstract class ForgetfulFileSystem extends FilterFileSystem {
  /** Where HDFS shows the snapshots of a directory. */
  private static final String SNAPSHOTS = ".snapshot";

  /** Forgets a file. */
  abstract void forget(Path path);

  /** Forgets all below a path, and the path. */
  abstract void forgetTree(Path path);

  private FSDataOutputStream forgetting(FSDataOutputStream out, Path path) throws IOException {
    return new InvalidatingOutputStream(out, () -> forget(path));
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      boolean overwrite,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    try {
      return forgetting(
          super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress),
          path);
    } finally {
      forget(path);
    }
  }

  @Override
  public FSDataOutputStream create(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    try {
      return forgetting(
          super.create(
              path, permission, flags, bufferSize, replication, blockSize, progress, checksum),
          path);
    } finally {
      forget(path);
    }
  }

  @Override
  public FSDataOutputStream createNonRecursive(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress)
      throws IOException {
    try {
      return forgetting(
          super.createNonRecursive(
              path, permission, flags, bufferSize, replication, blockSize, progress),
          path);
    } finally {
      forget(path);
    }
  }

  @Override
  protected FSDataOutputStream primitiveCreate(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockSize,
      Progressable progress,
      Options.ChecksumOpt checksum)
      throws IOException {
    try {
      return forgetting(
          super.primitiveCreate(
              path, permission, flags, bufferSize, replication, blockSize, progress, checksum),
          path);
    } finally {
      forget(path);
    }
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress)
      throws IOException {
    try {
      return forgetting(super.append(path, bufferSize, progress), path);
    } finally {
      forget(path);
    }
  }

  /** The builder of this file system; that of the source would pass the cache by. */
  @Override
  @SuppressWarnings("rawtypes")
  public FSDataOutputStreamBuilder createFile(Path path) {
    return createDataOutputStreamBuilder(this, path).create().overwrite(true);
  }

  /** The builder of this file system; that of the source would pass the cache by. */
  @Override
  @SuppressWarnings("rawtypes")
  public FSDataOutputStreamBuilder appendFile(Path path) {
    return createDataOutputStreamBuilder(this, path).append();
  }

  @Override
  public void concat(Path target, Path[] sources) throws IOException {
    try {
      super.concat(target, sources);
    } finally {
      forget(target);
      for (Path each : sources) {
        forget(each);
      }
    }
  }

  @Override
  public boolean truncate(Path path, long length) throws IOException {
    try {
      return super.truncate(path, length);
    } finally {
      forget(path);
    }
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    boolean file = isFileAtSource(from);
    try {
      return super.rename(from, to);
    } finally {
      renamed(from, to, file);
    }
  }

  @Override
  protected void rename(Path from, Path to, Options.Rename... options) throws IOException {
    boolean file = isFileAtSource(from);
    try {
      super.rename(from, to, options);
    } finally {
      renamed(from, to, file);
    }
  }

  /** The target may have been a file, or a directory into which the source was moved. */
  private void renamed(Path from, Path to, boolean file) {
    if (file) {
      forget(from);
      forget(to);
      if (!from.isRoot()) {
        forget(new Path(to, from.getName()));
      }
    } else {
      forgetTree(from);
      forgetTree(to);
    }
  }

  /** Whether a path is a file, so that nothing is below it. */
  private boolean isFileAtSource(Path path) {
    try {
      return fs.getFileStatus(path).isFile();
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    boolean tree = recursive && !isFileAtSource(path);
    try {
      return super.delete(path, recursive);
    } finally {
      if (tree) {
        forgetTree(path);
      } else {
        forget(path);
      }
    }
  }

  /** An operation that changes what is known of a file. */
  private interface Change {
    void run() throws IOException;
  }

  private void change(Path path, Change change) throws IOException {
    try {
      change.run();
    } finally {
      forget(path);
    }
  }

  @Override
  public boolean setReplication(Path path, short replication) throws IOException {
    try {
      return super.setReplication(path, replication);
    } finally {
      forget(path);
    }
  }

  @Override
  public void setOwner(Path path, String owner, String group) throws IOException {
    change(path, () -> super.setOwner(path, owner, group));
  }

  @Override
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    change(path, () -> super.setTimes(path, modified, accessed));
  }

  @Override
  public void setPermission(Path path, FsPermission permission) throws IOException {
    change(path, () -> super.setPermission(path, permission));
  }

  @Override
  public void modifyAclEntries(Path path, List<AclEntry> entries) throws IOException {
    change(path, () -> super.modifyAclEntries(path, entries));
  }

  @Override
  public void removeAclEntries(Path path, List<AclEntry> entries) throws IOException {
    change(path, () -> super.removeAclEntries(path, entries));
  }

  @Override
  public void removeDefaultAcl(Path path) throws IOException {
    change(path, () -> super.removeDefaultAcl(path));
  }

  @Override
  public void removeAcl(Path path) throws IOException {
    change(path, () -> super.removeAcl(path));
  }

  @Override
  public void setAcl(Path path, List<AclEntry> entries) throws IOException {
    change(path, () -> super.setAcl(path, entries));
  }

  @Override
  public void copyFromLocalFile(boolean move, Path from, Path to) throws IOException {
    copyFromLocalFile(move, true, from, to);
  }

  @Override
  public void copyFromLocalFile(boolean move, boolean overwrite, Path[] from, Path to)
      throws IOException {
    try {
      super.copyFromLocalFile(move, overwrite, from, to);
    } finally {
      forgetTree(to);
    }
  }

  @Override
  public void copyFromLocalFile(boolean move, boolean overwrite, Path from, Path to)
      throws IOException {
    try {
      super.copyFromLocalFile(move, overwrite, from, to);
    } finally {
      forgetTree(to);
    }
  }

  @Override
  public void copyToLocalFile(boolean move, Path from, Path to) throws IOException {
    try {
      super.copyToLocalFile(move, from, to);
    } finally {
      if (move) {
        forgetTree(from);
      }
    }
  }

  @Override
  public void renameSnapshot(Path path, String from, String to) throws IOException {
    try {
      super.renameSnapshot(path, from, to);
    } finally {
      forgetTree(new Path(path, SNAPSHOTS));
    }
  }

  @Override
  public void deleteSnapshot(Path path, String name) throws IOException {
    try {
      super.deleteSnapshot(path, name);
    } finally {
      forgetTree(new Path(path, SNAPSHOTS));
    }
  }

  @Override
  public void completeLocalOutput(Path target, Path local) throws IOException {
    try {
      super.completeLocalOutput(target, local);
    } finally {
      forgetTree(target);
    }
  }
}
