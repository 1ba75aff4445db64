/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.bench.hadoop;

import io.crail.bench.options.BenchOptions;
import io.crail.bench.record.BenchException;
import io.crail.bench.record.Memory;
import io.crail.bench.record.RandomNames;
import io.crail.common.ByteText;
import io.crail.common.Printable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * The file system to measure, and helpers of most workloads. It owns the file system.
 *
 * @param path the path given with {@code -f}
 * @param embedded whether the cluster is new, so that nothing on it comes from an earlier run
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

  /** Opens a new file system. */
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

  /**
   * The file that this worker writes: {@code -f} for the first worker, a file beside it for any
   * other.
   */
  Path ownPath() {
    return options.worker() == 0 ? path : path.suffix("." + options.worker());
  }

  /** Prints a remark. */
  void notice(String text) {
    notices.println(Printable.line(text));
  }

  /** The status of a path; null when nothing is there. */
  FileStatus find(Path sought) throws IOException {
    try {
      return fileSystem.getFileStatus(sought);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  /** Creates a file, and replaces an existing one. */
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
   * Returns the length of the file {@code -f}, which is enough for an operation. On an embedded
   * cluster a missing file is written first.
   *
   * @param bytes the desired length of the file
   * @throws BenchException when the file is missing or too short; it says how to write it
   */
  long requireFile(long bytes) throws Exception {
    FileStatus status = find(path);
    if (status == null && embedded) {
      // This size is the first of several; the file has to be long enough for all.
      long largest = options.largestSize();
      long length =
          Math.max(largest, Math.min(bytes / options.size() * largest, MAX_PREPARED_BYTES));
      notice(
          "The embedded cluster is empty: writing "
              + path
              + " with "
              + ByteText.of(length)
              + " first");
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

  /** Creates a directory unless it exists. Returns true when it was created. */
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

  /** Creates the directory {@code -f}, and those of its many empty files that are missing. */
  void ensureFiles() throws Exception {
    ensureDirectory(path);
    Set<Path> missing = new HashSet<>();
    RandomNames names = new RandomNames(path.toString(), options.names(), 0);
    for (int i = 0; i < options.names(); i++) {
      missing.add(fileSystem.makeQualified(new Path(names.path(i))));
    }
    RemoteIterator<FileStatus> found = fileSystem.listStatusIterator(path);
    while (found.hasNext()) {
      missing.remove(found.next().getPath());
    }
    if (!missing.isEmpty()) {
      notice("creating " + missing.size() + " missing files in " + path);
      for (Path each : missing) {
        fileSystem.create(each, false).close();
      }
    }
  }

  private String label() {
    return options.type().label();
  }

  @Override
  public void close() throws IOException {
    fileSystem.close();
  }
}
