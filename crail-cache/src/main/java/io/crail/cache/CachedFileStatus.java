/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.util.Set;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/** The status of a cached file, without what only its file system knows. */
final class CachedFileStatus extends FileStatus implements EtagSource {
  private static final long serialVersionUID = 1;

  private final String etag;

  CachedFileStatus(
      FileStatus form, FsPermission permission, Set<AttrFlags> attributes, Path path, String etag) {
    super(
        form.getLen(),
        false,
        form.getReplication(),
        form.getBlockSize(),
        form.getModificationTime(),
        form.getAccessTime(),
        permission,
        form.getOwner(),
        form.getGroup(),
        null,
        path,
        attributes);
    this.etag = etag;
  }

  /** The mark of the content that its file system gives; null for none. */
  @Override
  public String getEtag() {
    return etag;
  }
}
