/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.namenode.conf.NameNodeKeys;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.CommitLog;
import io.crail.namenode.log.LogDirectory;
import io.crail.namenode.log.LogReader;
import io.crail.namenode.log.RecordBytes;
import io.crail.namenode.log.Snapshots;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;

/**
 * A namenode that makes the changes of another one, and can take its place. It keeps a copy of the
 * log, from which it starts again. What is in the copy is final: the caller hands only records over
 * that no peer will drop any more. For one thread at a time, except where it is said.
 */
public final class StandbyNamenode implements AutoCloseable {
  private final Configuration conf;
  private final Clock clock;
  private final RandomGenerator random;
  private final NeighbourCalls neighbours;
  private final NameNodeLog state;
  private final LogReader read;
  private final ChangeLog copy;
  private final long begunNanos;
  private final Checkpoints checkpoints;
  private boolean isFollowing = true;

  /**
   * Reads the copy, and goes on with it.
   *
   * @param index which of the cluster's namenodes it is
   * @param count how many there are
   * @param directory has the copy; the caller closes it, after this
   * @param writing runs one task at a time; they write the copy
   * @param preparing runs tasks that may take long
   * @param failed called when the copy cannot be written any more
   * @param snapshots runs one task at a time, which may take very long
   * @param place the path of the directory if another process may make its snapshots; else null
   * @param segmentBytes bytes of a file of the copy
   * @throws IOException that names the file if the copy cannot be read, or is damaged
   */
  public StandbyNamenode(
      Configuration conf,
      int index,
      int count,
      LogDirectory directory,
      Executor writing,
      Executor preparing,
      Runnable failed,
      Executor snapshots,
      Path place,
      long segmentBytes,
      Clock clock,
      RandomGenerator random)
      throws IOException {
    this.conf = conf;
    this.clock = clock;
    this.random = random;
    this.neighbours = new NeighbourCalls(conf, index, clock);
    NameNodeOptions options = NameNodeOptions.of(conf, index, count);
    this.state = NameNodeLog.follow(options, clock, random, neighbours);
    Snapshots present = new Snapshots(directory);
    this.read = state.read(directory, present);
    present.purge();
    this.begunNanos = clock.nanoTime();
    this.copy = new ChangeLog(directory, read, clock, writing, preparing, failed, segmentBytes);
    Checkpoints.Maker maker =
        place == null
            ? (closed, name, isEnded) ->
                NameNodeLog.checkpoint(
                    directory, closed, name, segmentBytes, options, clock, random, isEnded)
            : new CheckpointProcess(place, conf, options, segmentBytes);
    this.checkpoints =
        new Checkpoints(
            copy,
            present,
            maker,
            snapshots,
            clock,
            random,
            conf.get(NameNodeKeys.SNAPSHOT_RECORDS),
            options.leaseNanos(),
            "namenode " + index);
    state.keep(checkpoints);
  }

  /** The number of the last record. Any thread. */
  public long last() {
    return copy.last();
  }

  /**
   * Whether the namenode that has written the records has acknowledged changes before they were
   * durable. For one that follows.
   */
  public boolean wasAhead() {
    NameNode namenode = state.namenode();
    return namenode != null && namenode.start().ahead();
  }

  /** Why no more records can be taken now; null if they can. Any thread. */
  public String refusal() {
    return copy.refusal();
  }

  /** How the copy stands. Any thread. */
  public LogStanding standing() {
    return checkpoints.standing(copy);
  }

  /** The copy. Its gate says what of it is on the disk. Any thread. */
  public ChangeLog copy() {
    return copy;
  }

  /** Does the periodic work on the copy. Any thread. */
  public void tick() {
    copy.tick();
    NameNode namenode = state.namenode();
    if (namenode != null) {
      checkpoints.tick(namenode.tree().size());
    }
  }

  /**
   * Takes the next record.
   *
   * @throws IOException if it does not fit those before it; then the state is of no use
   */
  public void take(int kind, ByteBuffer bytes, int offset, int length) throws IOException {
    if (isFollowing) {
      state.written(0, read.nanos() + clock.nanoTime() - begunNanos);
      state.record(last() + 1, kind, bytes, offset, length);
    }
    copy.append(kind, RecordBytes.CODEC, bytes.slice(offset, length));
  }

  /**
   * Serves from now on, and makes the changes.
   *
   * @param log where the changes go. Its records come back by {@link #take} once they are final
   * @param leadership says how the peers stand
   * @throws IOException that names the address when it cannot be bound
   */
  public NameNodeServer serve(
      CommitLog log, Leadership leadership, InetSocketAddress bind, Transport transport)
      throws IOException {
    isFollowing = false;
    state.lead(log);
    Keeper keeper =
        new Keeper() {
          @Override
          public Leadership leadership() {
            return leadership;
          }

          @Override
          public boolean tick(NameNode namenode) {
            return log.refusal() == null;
          }

          @Override
          public void close() {}
        };
    NameNodeServer server =
        NameNodeServer.serve(
            conf, state.namenode(), state, keeper, neighbours, bind, transport, random);
    server.startTimer();
    return server;
  }

  /** Writes what is left of the copy. */
  @Override
  public void close() throws IOException {
    checkpoints.close();
    copy.close();
  }
}
