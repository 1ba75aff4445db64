/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.source;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * Local files under {@code delayed:///}, for readers. Each status, listing, open and read takes
 * {@value #MICROS_KEY} microseconds longer than it would, and is counted in the file that {@value
 * #COUNTS_KEY} names. So it stands for a file system at the other end of a network. Thread-safe.
 */
public final class DelayedFileSystem extends RawLocalFileSystem {
  /** The key for the delay, in microseconds; 1,000 if it is absent. */
  static final String MICROS_KEY = "delayed.micros";

  /** The key for the file of the counts; nothing is counted if it is absent. */
  static final String COUNTS_KEY = "delayed.counts";

  private static final URI ROOT = URI.create("delayed:///");
  private static final int DEFAULT_MICROS = 1_000;
  private static final int PERMISSION = 0644;

  private long delayNanos;

  /** Null if nothing is counted. */
  private SourceCounts counts;

  /** Called by Hadoop, before {@link #initialize}. */
  public DelayedFileSystem() {}

  @Override
  public void initialize(URI uri, Configuration configuration) throws IOException {
    super.initialize(uri, configuration);
    delayNanos = TimeUnit.MICROSECONDS.toNanos(configuration.getLong(MICROS_KEY, DEFAULT_MICROS));
    String file = configuration.get(COUNTS_KEY);
    counts = file == null ? null : new SourceCounts(Paths.get(file));
  }

  private void delay(SourceCounts.Kind kind) {
    if (counts != null) {
      counts.add(kind);
    }
    if (delayNanos == 0) {
      return;
    }
    long end = System.nanoTime() + delayNanos;
    for (long left = delayNanos; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.currentThread().isInterrupted()) {
        return;
      }
    }
  }

  @Override
  public URI getUri() {
    return ROOT;
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    delay(SourceCounts.Kind.STATUS);
    return status(path);
  }

  /** Without the process that Hadoop starts for the permissions. */
  private FileStatus status(Path path) throws IOException {
    try {
      PosixFileAttributes found =
          Files.readAttributes(pathToFile(path).toPath(), PosixFileAttributes.class);
      return new FileStatus(
          found.isDirectory() ? 0 : found.size(),
          found.isDirectory(),
          1,
          getDefaultBlockSize(path),
          found.lastModifiedTime().toMillis(),
          found.lastAccessTime().toMillis(),
          new FsPermission((short) PERMISSION),
          found.owner().getName(),
          found.group().getName(),
          makeQualified(path));
    } catch (FileSystemException e) {
      throw notThere(path, e);
    }
  }

  private static FileNotFoundException notThere(Path path, IOException cause) {
    FileNotFoundException error = new FileNotFoundException("File " + path + " does not exist");
    error.initCause(cause);
    return error;
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    delay(SourceCounts.Kind.LISTING);
    List<FileStatus> found = new ArrayList<>();
    try (Stream<java.nio.file.Path> children = Files.list(pathToFile(path).toPath())) {
      for (java.nio.file.Path child : (Iterable<java.nio.file.Path>) children::iterator) {
        found.add(status(new Path(path, child.getFileName().toString())));
      }
    } catch (NoSuchFileException e) {
      throw notThere(path, e);
    }
    return found.toArray(new FileStatus[0]);
  }

  @Override
  public RemoteIterator<FileStatus> listStatusIterator(Path path) throws IOException {
    return RemoteIterators.remoteIteratorFromArray(listStatus(path));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    delay(SourceCounts.Kind.OPEN);
    try {
      return new FSDataInputStream(
          new DelayedStream(FileChannel.open(pathToFile(path).toPath(), StandardOpenOption.READ)));
    } catch (NoSuchFileException e) {
      throw notThere(path, e);
    }
  }

  /** One read of the caller is one delay. */
  private final class DelayedStream extends FSInputStream {
    private final FileChannel file;
    private long position;

    DelayedStream(FileChannel file) {
      this.file = file;
    }

    @Override
    public synchronized void seek(long target) throws IOException {
      if (target < 0) {
        throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK);
      }
      position = target;
    }

    @Override
    public synchronized long getPos() {
      return position;
    }

    @Override
    public boolean seekToNewSource(long target) {
      return false;
    }

    @Override
    public synchronized int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(byte[] target, int offset, int count) throws IOException {
      delay(SourceCounts.Kind.READ);
      int got = file.read(ByteBuffer.wrap(target, offset, count), position);
      position += Math.max(0, got);
      return got;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
