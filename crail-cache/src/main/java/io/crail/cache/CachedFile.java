/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import org.apache.hadoop.fs.Path;

/**
 * A file as it was when it was opened: its length, the names of its blocks, and the source that has
 * them.
 *
 * @param identity what the names of its blocks begin with
 */
record CachedFile(Path path, long length, String identity, int blockBytes, SourceFile source) {
  long blockOf(long position) {
    return position / blockBytes;
  }

  int offsetInBlock(long position) {
    return (int) (position % blockBytes);
  }

  long blocks() {
    return (length + blockBytes - 1) / blockBytes;
  }

  /** Bytes of a block; the last one may be shorter. */
  int bytesOf(long block) {
    return (int) Math.min(blockBytes, length - block * blockBytes);
  }
}
