/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.namenode.ahead.AheadLog;
import io.crail.namenode.conf.Durability;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogDirectory;
import io.crail.namenode.log.LogReader;
import io.crail.namenode.log.Snapshots;
import io.crail.protocol.ClusterKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where a namenode keeps its log, and the threads that write it. */
public final class LogHome implements NameNodeLog.Writer, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogHome.class);

  /** What follows the name of a log's directory in that of what its peers agree on. */
  public static final String PEERS = "-peers";

  private final LogDirectory directory;
  private final Executor writing;
  private final Executor preparing;
  private final Executor snapshots;
  private final Function<NameNodeOptions, Checkpoints.Maker> makers;
  private final Runnable end;
  private final Clock clock;
  private final long segmentBytes;
  private final long snapshotRecords;
  private long delayNanos;
  private ChangeLog log;
  private CommitLog commits;

  /**
   * Takes a directory over.
   *
   * @param writing runs {@link ChangeLog#MOST_WRITES} tasks at a time, or fewer
   * @param preparing runs tasks that may take long
   * @param snapshots runs one task at a time, which may take very long
   * @param end ends all of them
   * @param segmentBytes bytes of a file
   * @param snapshotRecords how many records a snapshot takes the place of, at least
   */
  public LogHome(
      LogDirectory directory,
      Executor writing,
      Executor preparing,
      Executor snapshots,
      Runnable end,
      Clock clock,
      long segmentBytes,
      long snapshotRecords) {
    this(
        directory,
        writing,
        preparing,
        snapshots,
        end,
        clock,
        segmentBytes,
        snapshotRecords,
        options -> null);
  }

  /**
   * As the other one.
   *
   * @param makers what makes the files of snapshots; null for the executor
   */
  LogHome(
      LogDirectory directory,
      Executor writing,
      Executor preparing,
      Executor snapshots,
      Runnable end,
      Clock clock,
      long segmentBytes,
      long snapshotRecords,
      Function<NameNodeOptions, Checkpoints.Maker> makers) {
    this.directory = directory;
    this.writing = writing;
    this.preparing = preparing;
    this.snapshots = snapshots;
    this.end = end;
    this.clock = clock;
    this.segmentBytes = segmentBytes;
    this.snapshotRecords = snapshotRecords;
    this.makers = makers;
  }

  /**
   * The one that a configuration names; null if the metadata end with the namenode.
   *
   * @param isAlone whether this process is only there for the namenode, so that what needs as much
   *     memory again gets a process of its own
   * @throws IOException that names the directory if it cannot be used, or another process uses it
   */
  static LogHome of(Configuration conf, int index, boolean isAlone, Clock clock)
      throws IOException {
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
    Path path = Path.of(parent, "namenode-" + index);
    LogDirectory directory = FileLogDirectory.open(path);
    Path peers = path.resolveSibling(path.getFileName() + PEERS);
    if (directory.isCopy() && Files.exists(peers)) {
      directory.close();
      throw new IOException(
          "namenode "
              + index
              + " has been one of several peers, of which the others may know more than "
              + path
              + ": "
              + ClusterKeys.NAMENODE_ADDRESS.name()
              + " must name them all. To go on without them, end them, and move "
              + peers
              + " away");
    }
    String name = "crail-namenode-" + index + "-log";
    ExecutorService writing =
        Executors.newFixedThreadPool(ChangeLog.MOST_WRITES, Threads.factory(name));
    ExecutorService preparing = Executors.newSingleThreadExecutor(Threads.factory(name + "-files"));
    ExecutorService snapshots =
        Executors.newSingleThreadExecutor(Threads.factory(name + "-snapshots"));
    LogHome home =
        new LogHome(
            directory,
            writing,
            preparing,
            snapshots,
            () -> List.of(writing, preparing, snapshots).forEach(ExecutorService::shutdown),
            clock,
            ChangeLog.SEGMENT_BYTES,
            conf.get(NameNodeKeys.SNAPSHOT_RECORDS),
            options ->
                isAlone
                    ? new CheckpointProcess(path, conf, options, ChangeLog.SEGMENT_BYTES)
                    : null);
    return conf.get(NameNodeKeys.DURABILITY) == Durability.ASYNC
        ? home.ahead(conf.get(NameNodeKeys.LOG_DELAY).toNanos())
        : home;
  }

  /**
   * Lets answers leave before their changes are durable.
   *
   * @param mostNanos the span of the changes that a crash can lose
   */
  public LogHome ahead(long mostNanos) {
    delayNanos = mostNanos;
    return this;
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
  public CommitLog commits(ChangeLog of) {
    commits = delayNanos == 0 ? of : new AheadLog(of, clock, delayNanos, NameNodeLog::isFirst);
    return commits;
  }

  @Override
  public Checkpoints snapshots(Snapshots present, NameNodeOptions options, RandomGenerator random) {
    Checkpoints.Maker process = makers.apply(options);
    Checkpoints.Maker here =
        (closed, name, isEnded) ->
            NameNodeLog.checkpoint(
                directory, closed, name, segmentBytes, options, clock, random, isEnded);
    return new Checkpoints(
        log,
        present,
        process == null ? here : process,
        snapshots,
        clock,
        random,
        snapshotRecords,
        options.leaseNanos(),
        "namenode " + options.index());
  }

  /** Does the periodic work. Returns whether changes may be made. */
  boolean tick() {
    log.tick();
    return commits.refusal() == null;
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
