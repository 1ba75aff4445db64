/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.drain;

import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A drain in a thread of its own, with connections of its own. Used by one thread beside that. */
public final class DrainTask implements DrainWork {
  private static final Logger LOG = LoggerFactory.getLogger(DrainTask.class);

  /** Whoever runs this looks at it, so it prints nothing. */
  private static final PrintStream NOWHERE =
      new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);

  private final Configuration configuration;
  private final UUID uuid;
  private final String address;
  private final long bandwidth;
  private final Thread thread;
  private volatile DatanodeDrain drain;
  private volatile Outcome outcome = Outcome.GOES_ON;
  private volatile String failure = "";

  private DrainTask(Configuration configuration, UUID uuid, String address, long bandwidth) {
    this.configuration = configuration;
    this.uuid = uuid;
    this.address = address;
    this.bandwidth = bandwidth;
    this.thread = Threads.daemon("crail-drain", this::run);
  }

  /**
   * Begins the drain of a datanode, or goes on with it.
   *
   * @param uuid the identity of its process
   * @param address its address, for messages
   * @param bandwidth bytes a second; 0 for all that goes
   */
  public static DrainTask begin(
      Configuration configuration, UUID uuid, String address, long bandwidth) {
    DrainTask task = new DrainTask(configuration, uuid, address, bandwidth);
    task.thread.start();
    return task;
  }

  /**
   * Lets a datanode give out its space again.
   *
   * @return false when no namenode knows it any more, or has data there
   * @throws CrailException with UNAVAILABLE when a namenode does not answer, the datanode is
   *     silent, or gets data at some namenodes only
   */
  public static boolean undo(Configuration configuration, UUID uuid, String address)
      throws CrailException, InterruptedException {
    try (MoveCluster cluster = MoveCluster.of(configuration)) {
      new DatanodeDrain(cluster, uuid, address, 0, NOWHERE).cancel();
      return true;
    } catch (CrailException e) {
      if (e.code() == ErrorCode.UNKNOWN_DATANODE) {
        return false;
      }
      throw e;
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw ErrorCode.UNAVAILABLE.exception(e.getMessage());
    }
  }

  private void run() {
    try (MoveCluster cluster = MoveCluster.of(configuration)) {
      DatanodeDrain work = new DatanodeDrain(cluster, uuid, address, bandwidth, NOWHERE);
      work.begin();
      drain = work;
      work.run();
      outcome = Outcome.EMPTY;
    } catch (InterruptedException e) {
      // Whoever has stopped it does not look any more.
    } catch (CrailException e) {
      failure = e.getMessage();
      outcome =
          switch (e.code()) {
            case DATA_LOST -> Outcome.LOST;
            case CLOSED -> Outcome.CANCELLED;
            default -> Outcome.FAILED;
          };
    } catch (Exception e) {
      LOG.warn("cannot drain {}", address, e);
      failure = e.toString();
      outcome = Outcome.FAILED;
    }
  }

  @Override
  public Outcome outcome() {
    return outcome;
  }

  @Override
  public String reason() {
    DatanodeDrain work = drain;
    return failure.isEmpty() && work != null ? work.heldUpBy() : failure;
  }

  @Override
  public long leftBytes() {
    DatanodeDrain work = drain;
    return work == null ? Long.MAX_VALUE : work.leftBytes();
  }

  @Override
  public void stop() throws InterruptedException {
    thread.interrupt();
    thread.join();
  }
}
