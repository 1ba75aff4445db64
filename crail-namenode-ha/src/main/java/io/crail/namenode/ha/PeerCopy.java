/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Clock;
import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.namenode.StandbyNamenode;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.LogDirectory;
import io.crail.protocol.ClusterKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The copy of what was agreed on that a peer keeps, and the threads that write it. For one thread
 * at a time, except where it is said.
 */
final class PeerCopy implements AutoCloseable {
  private static final long WRITE_PAUSE_MILLIS = 20;
  private static final long WRITTEN_AT_ONCE = 128 << 10;
  private static final long MOST_WAITING = 32 << 20;

  private final Configuration conf;
  private final int index;
  private final Clock clock;
  private final PeerLimits limits;
  private final LogDirectory directory;
  private final PeerFiles files;
  private final ScheduledExecutorService writing;
  private final ExecutorService preparing;
  private final ExecutorService snapshotting;
  private volatile StandbyNamenode node;

  /**
   * Takes its directory over, which it makes if it is not there.
   *
   * @param index which namenode it is
   * @throws IOException that names the directory if it cannot be used, or another process uses it
   */
  PeerCopy(Configuration conf, int index, Path path, Clock clock, PeerLimits limits)
      throws IOException {
    this.conf = conf;
    this.index = index;
    this.clock = clock;
    this.limits = limits;
    this.directory = FileLogDirectory.open(path);
    this.files = new PeerFiles(path);
    String name = "crail-namenode-" + index + "-log";
    this.writing = Executors.newSingleThreadScheduledExecutor(Threads.factory(name));
    this.preparing = Executors.newSingleThreadExecutor(Threads.factory(name + "-files"));
    this.snapshotting = Executors.newSingleThreadExecutor(Threads.factory(name + "-snapshots"));
  }

  /** Its files. */
  PeerFiles files() {
    return files;
  }

  /** What there is. For one that does not take part yet. */
  Membership.Records records() throws IOException {
    if (!files.isAny()) {
      return Membership.Records.NONE;
    }
    return directory.isCopy() ? Membership.Records.COPY : Membership.Records.LONE;
  }

  /**
   * Requires that others can begin with the records of a namenode without standbys.
   *
   * @throws IOException that names the file or the reason if they cannot
   */
  void requireWhole() throws IOException {
    try (StandbyNamenode read = read()) {
      if (read.wasAhead()) {
        throw new IOException(
            files.directory()
                + " has what a namenode has written with "
                + NameNodeKeys.DURABILITY.name()
                + " async: start and end it once with sync, without standbys");
      }
    }
  }

  /** Notes that what is here has been agreed on with others, or will be. */
  void begin() throws IOException {
    directory.markCopy(true);
  }

  /** Makes the state of it. The caller closes what was made before. */
  StandbyNamenode read() throws IOException {
    node =
        new StandbyNamenode(
            conf,
            index,
            conf.get(ClusterKeys.NAMENODE_ADDRESS).size(),
            directory,
            // With a pause, since nothing waits for the copy: what is agreed on is in the log of
            // Ratis.
            task -> writing.schedule(task, pauseMillis(), TimeUnit.MILLISECONDS),
            preparing,
            () -> Threads.dies(new IOException("the copy of the log cannot be written")),
            snapshotting,
            files.directory(),
            limits.segmentBytes(),
            clock,
            new SecureRandom());
    return node;
  }

  /** The number of the last record in files that are written no more. Any thread. */
  long closed() {
    return node.copy().closed().last();
  }

  /** Puts links to all files that are written no more into a directory. Returns the links. */
  List<Path> linkTo(Path target) throws IOException {
    return files.linkTo(target, node.copy().closed().segment());
  }

  /** Begins anew with files of another peer. Returns the state of them. */
  StandbyNamenode install(Path source) throws IOException {
    node.close();
    files.replace(source);
    return read();
  }

  private long pauseMillis() {
    StandbyNamenode present = node;
    boolean isBehind = present != null && present.copy().waitingBytes() > WRITTEN_AT_ONCE;
    return isBehind ? 0 : WRITE_PAUSE_MILLIS;
  }

  /** Lets it catch up, so that it takes no more memory than it may. Any thread. */
  void awaitRoom(BooleanSupplier isClosed) throws IOException {
    StandbyNamenode present = node;
    while (present != null
        && present.copy().waitingBytes() > MOST_WAITING
        && !present.copy().hasFailed()
        && !isClosed.getAsBoolean()) {
      try {
        TimeUnit.MILLISECONDS.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted");
      }
    }
  }

  /** Lets other processes use the directory. What was made of it must be closed before. */
  @Override
  public void close() throws IOException {
    directory.close();
    writing.shutdown();
    preparing.shutdown();
    snapshotting.shutdown();
  }
}
