/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * The file system of a {@code FileContext}. It uses the store of another file system, which closes
 * the streams left open here. A {@code FileContext} applies its own mask and has its own counters.
 * Thread-safe.
 */
final class ContextFileSystem extends CrailFileSystem {
  ContextFileSystem(CrailFileSystem owner) {
    super(owner);
  }

  /** Counts reads and writes in the counters of the {@code FileContext}. */
  void countIn(Statistics counters) {
    statistics = counters;
  }

  @Override
  @SuppressWarnings("deprecation")
  protected FSDataOutputStream primitiveCreate(
      Path path,
      FsPermission permission,
      EnumSet<CreateFlag> flags,
      int bufferSize,
      short replication,
      long blockBytes,
      Progressable progress,
      Options.ChecksumOpt checksums)
      throws IOException {
    boolean exists = exists(path);
    CreateFlag.validate(path, exists, flags);
    return exists && flags.contains(CreateFlag.APPEND)
        ? append(path, bufferSize, progress)
        : create(path, permission, flags.contains(CreateFlag.OVERWRITE), true);
  }

  @Override
  @SuppressWarnings("deprecation")
  protected boolean primitiveMkdir(Path path, FsPermission permission) throws IOException {
    makeDirectories(path, permission);
    return true;
  }

  @Override
  @SuppressWarnings("deprecation")
  protected void primitiveMkdir(Path path, FsPermission permission, boolean createParent)
      throws IOException {
    Path parent = path.getParent();
    if (!createParent && parent != null && !getFileStatus(parent).isDirectory()) {
      throw new ParentNotDirectoryException(parent + " is a file");
    }
    primitiveMkdir(path, permission);
  }
}
