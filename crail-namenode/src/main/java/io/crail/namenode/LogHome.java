/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogDirectory;
import io.crail.namenode.log.LogReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a namenode keeps its log, and the threads that write it. */
public final class LogHome implements NameNodeLog.Writer, Keeper {
  private static final Logger LOG = LoggerFactory.getLogger(LogHome.class);

  private final LogDirectory directory;
  private final Executor writing;
  private final Executor preparing;
  private final Runnable end;
  private final Clock clock;
  private final long segmentBytes;
  private final long snapshotRecords;
  private ChangeLog log;

  /**
   * Takes a directory over.
   *
   * @param writing runs one task at a time
   * @param preparing runs tasks that may take long
   * @param end ends both
   * @param segmentBytes bytes of a file
   * @param snapshotRecords how many records a snapshot takes the place of, at least
   */
  public LogHome(
      LogDirectory directory,
      Executor writing,
      Executor preparing,
      Runnable end,
      Clock clock,
      long segmentBytes,
      long snapshotRecords) {
    this.directory = directory;
    this.writing = writing;
    this.preparing = preparing;
    this.end = end;
    this.clock = clock;
    this.segmentBytes = segmentBytes;
    this.snapshotRecords = snapshotRecords;
  }

  /**
   * The one that a configuration names; null if the metadata end with the namenode.
   *
   * @throws IOException that names the directory if it cannot be used, or another process uses it
   */
  static LogHome of(Configuration conf, int index, Clock clock) throws IOException {
    if (conf.get(NameNodeKeys.DURABILITY) == Durability.NONE) {
      return null;
    }
    String parent = conf.get(NameNodeKeys.DATA_PATH);
    if (parent.isEmpty()) {
      throw new ConfigException(
          "key '"
              + NameNodeKeys.DATA_PATH.name()
              + "' must be set, since "
              + NameNodeKeys.DURABILITY.name()
              + " is "
              + conf.get(NameNodeKeys.DURABILITY));
    }
    LogDirectory directory = FileLogDirectory.open(Path.of(parent, "namenode-" + index));
    String name = "crail-namenode-" + index + "-log";
    ExecutorService writing = Executors.newSingleThreadExecutor(Threads.factory(name));
    ExecutorService preparing = Executors.newSingleThreadExecutor(Threads.factory(name + "-files"));
    return new LogHome(
        directory,
        writing,
        preparing,
        () -> {
          writing.shutdown();
          preparing.shutdown();
        },
        clock,
        ChangeLog.SEGMENT_BYTES,
        conf.get(NameNodeKeys.SNAPSHOT_RECORDS));
  }

  @Override
  public long snapshotRecords() {
    return snapshotRecords;
  }

  @Override
  public long segmentBytes() {
    return segmentBytes;
  }

  LogDirectory directory() {
    return directory;
  }

  /** Goes on with the log. A namenode whose log fails ends. */
  @Override
  public ChangeLog goOn(LogReader present) throws IOException {
    log =
        new ChangeLog(
            directory,
            present,
            clock,
            writing,
            preparing,
            () -> Threads.dies(new UncheckedIOException(new IOException(log.failure()))),
            segmentBytes);
    return log;
  }

  @Override
  public boolean tick() {
    log.tick();
    return log.refusal() == null;
  }

  /** Writes nothing more, as at the end of a process that is killed; for tests. */
  public void abandon() {
    if (log != null) {
      log.abandon();
    }
  }

  /** Writes what is left, and lets other processes use the directory. */
  @Override
  public void close() {
    try (LogDirectory closed = directory) {
      if (log != null) {
        log.close();
      }
    } catch (IOException e) {
      LOG.warn("the log was not closed: {}", e.toString());
    } finally {
      end.run();
    }
  }
}
