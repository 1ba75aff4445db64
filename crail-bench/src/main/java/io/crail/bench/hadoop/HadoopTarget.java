/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Memory;
import io.crail.common.Printable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The file system that is measured, and what most workloads do with it. Owns the file system.
 *
 * @param path what {@code -f} names
 * @param embedded whether nothing on it can come from an earlier run
 * @param notices where remarks go
 */
record HadoopTarget(
    BenchOptions<HadoopType> options,
    FileSystem fileSystem,
    Path path,
    boolean embedded,
    PrintStream notices)
    implements AutoCloseable {
  private static final long MAX_PREPARED_BYTES = 1L << 30;
  private static final int PREPARE_SIZE = 1 << 20;

  /** Opens a file system of its own. */
  static HadoopTarget open(
      URI uri,
      Map<String, String> keys,
      BenchOptions<HadoopType> options,
      boolean embedded,
      PrintStream notices)
      throws IOException {
    Configuration hadoop = new Configuration();
    keys.forEach(hadoop::set);
    return new HadoopTarget(
        options, FileSystem.newInstance(uri, hadoop), new Path(uri), embedded, notices);
  }

  /** The same file system for one of several workers. */
  HadoopTarget forWorker(BenchOptions<HadoopType> own, PrintStream ownNotices) {
    return new HadoopTarget(own, fileSystem, path, embedded, ownNotices);
  }

  /** The file that this worker writes: {@code -f} for the first, others beside it for the rest. */
  Path ownPath() {
    return options.worker() == 0 ? path : path.suffix("." + options.worker());
  }

  /** Says something that is no figure. */
  void notice(String text) {
    notices.println(Printable.line(text));
  }

  /** What is at a path, or null. */
  FileStatus find(Path sought) throws IOException {
    try {
      return fileSystem.getFileStatus(sought);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  /** Creates a file in place of the one that may be there. */
  FSDataOutputStream replace(Path file) throws Exception {
    FileStatus old = find(file);
    if (old != null && old.isDirectory()) {
      throw new BenchException(file + " is a directory; " + label() + " needs a file");
    }
    return fileSystem.create(file, true);
  }

  /** Writes a file of a length. */
  void write(Path file, long length) throws Exception {
    byte[] piece = Memory.heap((int) Math.min(length, PREPARE_SIZE));
    try (FSDataOutputStream out = replace(file)) {
      for (long left = length; left > 0; left -= piece.length) {
        out.write(piece, 0, (int) Math.min(left, piece.length));
      }
    }
  }

  /**
   * The length of the file {@code -f}, which has enough bytes for an operation. On an embedded
   * cluster it is written when it is not there.
   *
   * @param bytes how long the file would best be
   * @throws BenchException that says how to write it
   */
  long requireFile(long bytes) throws Exception {
    FileStatus status = find(path);
    if (status == null && embedded) {
      // Long enough for all sizes that are measured, of which this is the first.
      long largest = options.largestSize();
      long length =
          Math.max(largest, Math.min(bytes / options.size() * largest, MAX_PREPARED_BYTES));
      notice("The embedded cluster is empty: writing " + path + " with " + length + " bytes first");
      write(path, length);
      status = find(path);
    }
    if (status == null) {
      throw new BenchException(
          path + " does not exist; write it first: " + writeCommand(options.loop()));
    }
    if (status.isDirectory()) {
      throw new BenchException(path + " is a directory; " + label() + " needs a file");
    }
    if (options.type().usesSize() && status.getLen() < options.size()) {
      throw new BenchException(
          path
              + " has "
              + status.getLen()
              + " bytes, fewer than -s "
              + options.size()
              + "; take a smaller -s or write it anew: "
              + writeCommand(1));
    }
    return status.getLen();
  }

  private String writeCommand(long loop) {
    return "crail hdfsbench -t writeSequentialHeap -s "
        + options.size()
        + " -k "
        + loop
        + " -f "
        + options.path();
  }

  /** Makes sure that a directory is there; true when it was not. */
  boolean ensureDirectory(Path directory) throws Exception {
    FileStatus status = find(directory);
    if (status == null) {
      fileSystem.mkdirs(directory);
      return true;
    }
    if (!status.isDirectory()) {
      throw new BenchException(directory + " is a file; " + label() + " needs a directory");
    }
    return false;
  }

  private String label() {
    return options.type().label();
  }

  @Override
  public void close() throws IOException {
    fileSystem.close();
  }
}
