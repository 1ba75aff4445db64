/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;

/**
 * Local files under {@code slow:///}, with a delay for each status, open and read, and with errors
 * when a test wants them. What it does is counted for the process; tests use it one at a time.
 */
public final class SlowFileSystem extends RawLocalFileSystem {
  static final URI ROOT = URI.create("slow:///");

  static final AtomicLong STATUSES = new AtomicLong();
  static final AtomicLong OPENS = new AtomicLong();
  static final AtomicLong BYTES = new AtomicLong();

  /** Pauses of each call. */
  static final AtomicLong DELAY_NANOS = new AtomicLong();

  /** Reads that fail from now on. */
  static final AtomicLong FAILING_READS = new AtomicLong();

  /** Status calls that fail from now on. */
  static final AtomicLong FAILING_STATUSES = new AtomicLong();

  /** Bytes that files lack which their status says. */
  static final AtomicLong MISSING_BYTES = new AtomicLong();

  /** Bytes that files have although their status does not say so. */
  static final AtomicLong HIDDEN_BYTES = new AtomicLong();

  /** How much older than it is a file appears that was changed in the last minute. */
  static final AtomicLong OLDER_MILLIS = new AtomicLong();

  /** Not 0: each status has a path that was not asked for. */
  static final AtomicLong MOVED = new AtomicLong();

  /** Streams that are open. */
  static final AtomicLong STREAMS = new AtomicLong();

  /** Happens once, after the next status was read and before it is returned. */
  static final AtomicReference<Runnable> AFTER_STATUS = new AtomicReference<>();

  private static final long NEW_MILLIS = 60_000;

  /** A mark of content in each status; 0 for none. */
  static final AtomicLong ETAG = new AtomicLong();

  /** A status with a mark of content. */
  private static final class MarkedStatus extends FileStatus implements EtagSource {
    private static final long serialVersionUID = 1;

    MarkedStatus(FileStatus plain) throws IOException {
      super(plain);
    }

    @Override
    public String getEtag() {
      return ETAG.get() + "";
    }
  }

  static void reset() {
    for (AtomicLong each :
        new AtomicLong[] {
          STATUSES,
          OPENS,
          BYTES,
          DELAY_NANOS,
          FAILING_READS,
          FAILING_STATUSES,
          MISSING_BYTES,
          HIDDEN_BYTES,
          OLDER_MILLIS,
          MOVED,
          STREAMS,
          ETAG
        }) {
      each.set(0);
    }
    AFTER_STATUS.set(null);
  }

  private static void pause() {
    if (DELAY_NANOS.get() > 0) {
      LockSupport.parkNanos(DELAY_NANOS.get());
    }
  }

  private static void fail(AtomicLong count) throws IOException {
    if (count.get() > 0 && count.getAndDecrement() > 0) {
      throw new IOException("the source fails");
    }
  }

  @Override
  public URI getUri() {
    return ROOT;
  }

  @Override
  public String getCanonicalServiceName() {
    return "slow-service";
  }

  @Override
  public Token<?> getDelegationToken(String renewer) {
    return new Token<>(new byte[0], new byte[0], new Text("slow"), new Text("slow-service"));
  }

  /** Without a process for the permissions. */
  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    STATUSES.incrementAndGet();
    pause();
    fail(FAILING_STATUSES);
    try {
      PosixFileAttributes found =
          Files.readAttributes(pathToFile(path).toPath(), PosixFileAttributes.class);
      FileStatus status =
          new FileStatus(
              found.isDirectory() ? 0 : found.size() - HIDDEN_BYTES.get(),
              found.isDirectory(),
              1,
              getDefaultBlockSize(path),
              modified(found.lastModifiedTime().toMillis()),
              found.lastAccessTime().toMillis(),
              bits(found.permissions()),
              found.owner().getName(),
              found.group().getName(),
              makeQualified(MOVED.get() == 0 ? path : new Path("/moved")));
      Runnable after = AFTER_STATUS.getAndSet(null);
      if (after != null) {
        after.run();
      }
      return ETAG.get() == 0 ? status : new MarkedStatus(status);
    } catch (FileSystemException e) {
      // Also below a file.
      throw (FileNotFoundException)
          new FileNotFoundException("File " + path + " does not exist").initCause(e);
    }
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    FileStatus[] statuses = super.listStatus(path);
    for (int i = 0; i < statuses.length; i++) {
      statuses[i] = getFileStatus(statuses[i].getPath());
    }
    return statuses;
  }

  private static long modified(long millis) {
    boolean isNew = System.currentTimeMillis() - millis < NEW_MILLIS;
    return isNew ? millis - OLDER_MILLIS.get() : millis;
  }

  private static FsPermission bits(Set<PosixFilePermission> permissions) {
    int bits = 0;
    for (PosixFilePermission each : PosixFilePermission.values()) {
      bits = bits << 1 | (permissions.contains(each) ? 1 : 0);
    }
    return new FsPermission((short) bits);
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    OPENS.incrementAndGet();
    pause();
    return new FSDataInputStream(new SlowStream(super.open(path, bufferSize), length(path)));
  }

  private long length(Path path) {
    return pathToFile(path).length() - MISSING_BYTES.get();
  }

  /** Counts and delays. */
  private static final class SlowStream extends FSInputStream {
    private final FSDataInputStream in;
    private final long length;
    private boolean closed;

    SlowStream(FSDataInputStream in, long length) {
      this.in = in;
      this.length = length;
      STREAMS.incrementAndGet();
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long position) throws IOException {
      return in.seekToNewSource(position);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int count) throws IOException {
      pause();
      fail(FAILING_READS);
      long most = MISSING_BYTES.get() == 0 ? count : Math.min(count, length - in.getPos());
      if (most <= 0 && count > 0) {
        return -1;
      }
      int got = in.read(target, offset, (int) most);
      BYTES.addAndGet(Math.max(0, got));
      return got;
    }

    @Override
    public synchronized void close() throws IOException {
      if (!closed) {
        closed = true;
        STREAMS.decrementAndGet();
      }
      in.close();
    }
  }
}
