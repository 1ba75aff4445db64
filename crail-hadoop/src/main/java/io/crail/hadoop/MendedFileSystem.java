/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import java.io.IOException;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;

/** Hadoop's base class of file systems, without faults that it has for names with a colon. */
abstract class MendedFileSystem extends FileSystem {
  @Override
  public FileStatus[] globStatus(Path pattern) throws IOException {
    return globStatus(pattern, path -> true);
  }

  @Override
  public FileStatus[] globStatus(Path pattern, PathFilter filter) throws IOException {
    return new GlobSearch(this, filter).find(pattern);
  }

  /** Names a policy too, without which Hadoop's {@code count -e} fails. */
  @Override
  @SuppressWarnings("deprecation")
  public ContentSummary getContentSummary(Path path) throws IOException {
    ContentSummary sums = super.getContentSummary(path);
    return new ContentSummary.Builder()
        .length(sums.getLength())
        .fileCount(sums.getFileCount())
        .directoryCount(sums.getDirectoryCount())
        .spaceConsumed(sums.getSpaceConsumed())
        .erasureCodingPolicy("")
        .build();
  }
}
