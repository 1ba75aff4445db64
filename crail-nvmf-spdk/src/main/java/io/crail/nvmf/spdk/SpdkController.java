/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.common.error.CrailException;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerData;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.loop.LoopTask;
import io.crail.rpc.loop.Sweepable;
import java.io.IOException;
import java.util.List;

/**
 * A controller that SPDK drives. Another thread connects it, since SPDK blocks there; then it is
 * used in the loop only. SPDK gives the signs of life when the loop polls the admin queue, and
 * reports when the target leaves one unanswered.
 */
final class SpdkController implements Controller, Sweepable {
  /** {@code ETIMEDOUT}. */
  private static final int SILENT = -110;

  private final SpdkLoop spdk;
  private final Subsystem subsystem;
  private final List<Integer> wanted;
  private final Digests digests;
  private final ControllerLimits limits;
  private final Listener listener;
  private SpdkConnection connection;
  private SpdkQueue io;
  private long deadlineNanos;
  private boolean ended;

  /**
   * Creates a controller; {@link #start} follows.
   *
   * @param wanted the numbers of the namespaces to use; empty for all
   */
  SpdkController(
      SpdkLoop spdk,
      Subsystem subsystem,
      List<Integer> wanted,
      Digests digests,
      ControllerLimits limits,
      Listener listener) {
    this.spdk = spdk;
    this.subsystem = subsystem;
    this.wanted = List.copyOf(wanted);
    this.digests = digests;
    this.limits = limits;
    this.listener = listener;
  }

  @Override
  public void start() {
    spdk.loop().register(this);
    deadlineNanos = spdk.loop().clock().nanoTime() + limits.startNanos();
    if (!spdk.begin(this::connect)) {
      // After the present call, in which no answer is expected yet.
      deadlineNanos = spdk.loop().clock().nanoTime();
    }
  }

  /** In another thread. */
  private void connect() {
    try {
      SpdkConnection made = SpdkConnection.open(spdk, subsystem, wanted, digests, limits);
      spdk.loop()
          .submit(
              new LoopTask() {
                @Override
                public void runInLoop() {
                  opened(made);
                }

                @Override
                public void rejected() {
                  made.close();
                }
              });
    } catch (CrailException e) {
      spdk.loop().submit(() -> refuse(e));
    } catch (IOException e) {
      spdk.loop().submit(() -> lose(e.getMessage()));
    } catch (RuntimeException | Error e) {
      spdk.loop().submit(() -> lose(e.toString()));
    }
  }

  private void opened(SpdkConnection made) {
    if (ended) {
      made.close();
      return;
    }
    connection = made;
    io =
        new SpdkQueue(
            spdk,
            made,
            new NvmeQueue.Listener() {
              @Override
              public void opened() {
                // It was, before it was made.
              }

              @Override
              public void lost(String cause) {
                lose(cause);
              }
            });
    listener.ready();
  }

  @Override
  public Subsystem subsystem() {
    return subsystem;
  }

  @Override
  public ControllerData data() {
    return connection.data();
  }

  @Override
  public List<NamespaceData> namespaces() {
    return connection.namespaces();
  }

  @Override
  public NvmeQueue io() {
    return io;
  }

  private void lose(String cause) {
    if (!ended) {
      try {
        close(cause);
      } finally {
        listener.lost(cause);
      }
    }
  }

  private void refuse(CrailException cause) {
    if (!ended) {
      close(cause.getMessage());
      listener.refused(cause.code().exception(subsystem + ": " + cause.detail()));
    }
  }

  @Override
  public void close(String cause) {
    if (ended) {
      return;
    }
    ended = true;
    spdk.loop().unregister(this);
    if (io != null) {
      io.close(cause);
    }
  }

  @Override
  public void sweep(long nowNanos) {
    if (connection == null) {
      if (nowNanos - deadlineNanos >= 0) {
        lose("no answer in time while connecting");
      }
      return;
    }
    int error = connection.pollAdmin();
    if (error == SILENT) {
      lose("no answer to a keep-alive within " + limits.keepAlive().toMillis() / 2 + " ms");
    } else if (error < 0) {
      lose("the connection was closed (error " + -error + ")");
    }
  }

  @Override
  public void loopClosing() {
    close("the loop is closing");
  }
}
