/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A directory of this host. */
public final class FileLogDirectory implements LogDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(FileLogDirectory.class);
  private static final String LOCK = "lock";

  /** Is there in a directory that has a copy. */
  private static final String COPY = "copy";

  private static final Path KERNEL_LOCKS = Path.of("/proc/locks");
  private static final int ZEROS = 1 << 20;

  private final Path directory;

  /** Null in a directory that is only read. */
  private final FileChannel lockFile;

  private volatile boolean isDirect = true;

  private final boolean isWritable;

  private FileLogDirectory(Path directory, FileChannel lockFile, boolean isWritable) {
    this.directory = directory;
    this.lockFile = lockFile;
    this.isWritable = isWritable;
  }

  /**
   * Opens a directory for this process, and makes it if it is not there.
   *
   * @throws IOException also when another process has it open
   */
  public static FileLogDirectory open(Path directory) throws IOException {
    Files.createDirectories(directory);
    FileChannel lockFile =
        FileChannel.open(
            directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = lockFile.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another store of this process.
      lock = null;
    } catch (IOException e) {
      lockFile.close();
      throw e;
    }
    if (lock == null) {
      lockFile.close();
      throw new IOException("another namenode uses " + directory);
    }
    return new FileLogDirectory(directory, lockFile, true);
  }

  /**
   * Opens a directory to look at it, also while a namenode uses it. Nothing can be changed by it.
   *
   * @throws IOException also when it is not there
   */
  public static FileLogDirectory openToRead(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IOException("there is no directory " + directory);
    }
    return new FileLogDirectory(directory, null, false);
  }

  /**
   * The process that has a directory open, as the kernel of this host says. It does not say all:
   * not to a process in a container, and not of each file system. Takes no lock, which would be in
   * the way of a namenode that starts.
   */
  public static OptionalLong user(Path directory) {
    try {
      Path lock = directory.resolve(LOCK);
      long device = (Long) Files.getAttribute(lock, "unix:dev");
      String file =
          String.format(
              Locale.ROOT,
              "%02x:%02x:%s",
              device >> 8 & 0xfff,
              device & 0xff | device >> 12 & 0xfff00,
              Files.getAttribute(lock, "unix:ino"));
      for (String line : Files.readAllLines(KERNEL_LOCKS)) {
        // As in "1: POSIX  ADVISORY  WRITE 4711 08:01:1234 0 EOF".
        String[] words = line.split(" +");
        if (words.length > 5 && words[5].equals(file) && words[4].matches("[0-9]+")) {
          return OptionalLong.of(Long.parseLong(words[4]));
        }
      }
    } catch (IOException | RuntimeException e) {
      // Then it is not known.
    }
    return OptionalLong.empty();
  }

  /**
   * Opens a directory that another process has open, which has asked for it. Of what is there,
   * nothing may be changed.
   */
  public static FileLogDirectory beside(Path directory) {
    return new FileLogDirectory(directory, null, true);
  }

  private void requireOpenToWrite() throws IOException {
    if (!isWritable) {
      throw new IOException(directory + " is open to read only");
    }
  }

  @Override
  public List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(n -> !n.equals(LOCK) && !n.equals(COPY))
          .forEach(names::add);
    }
    Collections.sort(names);
    return names;
  }

  @Override
  public LogFile create(String name, long bytes) throws IOException {
    requireOpenToWrite();
    Path path = directory.resolve(name);
    FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      // Written rather than extended: else the space might be missing when it is needed.
      ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(ZEROS, bytes));
      for (long at = 0; at < bytes; ) {
        zeros.clear().limit((int) Math.min(ZEROS, bytes - at));
        at += channel.write(zeros, at);
      }
      channel.force(true);
      forceNames();
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      Files.deleteIfExists(path);
      throw e;
    }
    return new Opened(path, channel);
  }

  @Override
  public LogFile open(String name) throws IOException {
    Path path = directory.resolve(name);
    return new Opened(
        path,
        lockFile == null
            ? FileChannel.open(path, StandardOpenOption.READ)
            : FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE));
  }

  @Override
  public void delete(String name) throws IOException {
    requireOpenToWrite();
    if (Files.deleteIfExists(directory.resolve(name))) {
      forceNames();
    }
  }

  @Override
  public void rename(String name, String newName) throws IOException {
    requireOpenToWrite();
    Files.move(directory.resolve(name), directory.resolve(newName), StandardCopyOption.ATOMIC_MOVE);
    forceNames();
  }

  @Override
  public boolean isCopy() {
    return Files.exists(directory.resolve(COPY));
  }

  @Override
  public void markCopy(boolean isCopy) throws IOException {
    requireOpenToWrite();
    if (isCopy != isCopy()) {
      if (isCopy) {
        Files.createFile(directory.resolve(COPY));
      } else {
        Files.delete(directory.resolve(COPY));
      }
      forceNames();
    }
  }

  /** Makes durable which files there are. */
  private void forceNames() throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    if (lockFile != null) {
      lockFile.close();
    }
  }

  /** Opens a file of zeros so that each write is durable at its end. */
  private FileChannel openThrough(Path path) throws IOException {
    if (isDirect) {
      FileChannel channel = null;
      try {
        channel =
            FileChannel.open(
                path,
                StandardOpenOption.WRITE,
                StandardOpenOption.DSYNC,
                ExtendedOpenOption.DIRECT);
        // Some file systems refuse only the first write.
        channel.write(LogFrame.memory(LogFrame.PAGE), 0);
        return channel;
      } catch (IOException | UnsupportedOperationException e) {
        if (channel != null) {
          channel.close();
        }
        isDirect = false;
        LOG.info("{} is written through the page cache: {}", directory, e.toString());
      }
    }
    return FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
  }

  private final class Opened implements LogFile {
    private final Path path;
    private final FileChannel channel;

    /** Writes past the page cache, which takes half the time for a page; null before the first. */
    private FileChannel through;

    Opened(Path path, FileChannel channel) {
      this.path = path;
      this.channel = channel;
    }

    @Override
    public long length() throws IOException {
      return channel.size();
    }

    @Override
    public void read(ByteBuffer into, long position) throws IOException {
      long at = position;
      while (into.hasRemaining()) {
        int count = channel.read(into, at);
        if (count < 0) {
          return;
        }
        at += count;
      }
    }

    @Override
    public void write(ByteBuffer from, long position) throws IOException {
      long at = position;
      while (from.hasRemaining()) {
        at += channel.write(from, at);
      }
    }

    @Override
    public void commit(ByteBuffer from, long position, Consumer<IOException> done) {
      IOException problem = null;
      try {
        FileChannel to = through();
        long at = position;
        while (from.hasRemaining()) {
          at += to.write(from, at);
        }
      } catch (IOException e) {
        problem = e;
      }
      done.accept(problem);
    }

    private synchronized FileChannel through() throws IOException {
      if (through == null) {
        through = openThrough(path);
      }
      return through;
    }

    @Override
    public void force() throws IOException {
      channel.force(false);
    }

    @Override
    public synchronized void close() throws IOException {
      try (FileChannel closed = channel) {
        if (through != null) {
          through.close();
        }
      }
    }
  }
}
