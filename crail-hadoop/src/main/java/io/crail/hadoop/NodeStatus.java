/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop;

import io.crail.CrailAttributes;
import io.crail.CrailBlockLocation;
import io.crail.CrailNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Describes nodes to Hadoop: their status, and the blocks by which schedulers split them.
 * Immutable.
 */
final class NodeStatus {
  private static final long DEFAULT_BLOCK_SIZE = 128L << 20;

  private final long blockSize;

  private NodeStatus(long blockSize) {
    this.blockSize = blockSize;
  }

  /** Creates it with the block size of {@link CrailFileSystem#BLOCK_SIZE_KEY}. */
  static NodeStatus of(Configuration configuration) throws IOException {
    String key = CrailFileSystem.BLOCK_SIZE_KEY;
    long size = configuration.getLongBytes(key, DEFAULT_BLOCK_SIZE);
    if (size < 1) {
      throw new IOException("key '" + key + "' must be positive, not " + size);
    }
    return new NodeStatus(size);
  }

  /** Bytes of a scheduler's block. */
  long blockSize() {
    return blockSize;
  }

  /** The status of a node. */
  FileStatus of(Path path, CrailNode node) throws IOException {
    boolean directory = node.getType().isContainer();
    CrailAttributes attributes = HadoopErrors.translate(path, node::getAttributes);
    return new FileStatus(
        node.getCapacity(),
        directory,
        directory ? 0 : 1,
        directory ? 0 : blockSize,
        attributes.modificationTime(),
        attributes.accessTime(),
        new FsPermission((short) attributes.permissions()),
        attributes.owner(),
        attributes.group(),
        path);
  }

  /** The status of a node with its locations; null when it is gone. */
  LocatedFileStatus located(Path path, CrailNode node) throws IOException {
    FileStatus status = of(path, node);
    try {
      return new LocatedFileStatus(
          status, status.isFile() ? locations(path, node, 0, status.getLen()) : null);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  /** The blocks that have bytes of the range, each as a whole block. */
  BlockLocation[] locations(Path path, CrailNode node, long start, long length) throws IOException {
    long end = start + Math.min(length, Math.max(0, node.getCapacity() - start));
    if (end == start) {
      return new BlockLocation[0];
    }
    long from = start - start % blockSize;
    long rest = end % blockSize;
    long to = rest == 0 ? end : end - rest + blockSize;
    CrailBlockLocation[] runs =
        HadoopErrors.translate(path, () -> node.getBlockLocations(from, to - from));
    return SchedulerBlocks.of(runs, blockSize);
  }
}
