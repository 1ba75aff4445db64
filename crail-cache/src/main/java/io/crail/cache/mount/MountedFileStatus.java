/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.mount;

import java.io.IOException;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The status of a file under another path. Owner and permission are asked of the original one when
 * they are wanted: that of a local file starts a process to know them, and needs its own path.
 */
final class MountedFileStatus extends FileStatus implements EtagSource {
  private static final long serialVersionUID = 1;

  private final FileStatus original;

  MountedFileStatus(FileStatus original, Path path) {
    super(
        original.getLen(),
        original.isDirectory(),
        original.getReplication(),
        original.getBlockSize(),
        original.getModificationTime(),
        original.getAccessTime(),
        null,
        null,
        null,
        null,
        path,
        FileStatus.attributes(
            original.hasAcl(),
            original.isEncrypted(),
            original.isErasureCoded(),
            original.isSnapshotEnabled()));
    this.original = original;
  }

  @Override
  public FsPermission getPermission() {
    return original.getPermission();
  }

  @Override
  public String getOwner() {
    return original.getOwner();
  }

  @Override
  public String getGroup() {
    return original.getGroup();
  }

  @Override
  public boolean isSymlink() {
    return original.isSymlink();
  }

  @Override
  public Path getSymlink() throws IOException {
    return original.getSymlink();
  }

  @Override
  public String getEtag() {
    return original instanceof EtagSource source ? source.getEtag() : null;
  }
}
