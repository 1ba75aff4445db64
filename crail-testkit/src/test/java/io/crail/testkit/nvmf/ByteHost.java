/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.nvmf.Controller;
import io.crail.nvmf.sector.ByteTransfer;
import io.crail.nvmf.sector.SectorAccess;
import io.crail.rpc.netty.NettyKeys;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A host that reads and writes bytes of a target's first namespace. For any thread. */
final class ByteHost implements AutoCloseable {
  private final TestHost host;
  private final Controller controller;
  private final SectorAccess access;
  private final Deque<Move> waiting = new ArrayDeque<>();
  private boolean sending;

  ByteHost(NvmeTarget target, int depth) throws Exception {
    this(target, depth, NettyKeys.Io.AUTO);
  }

  ByteHost(NvmeTarget target, int depth, NettyKeys.Io io) throws Exception {
    host =
        new TestHost(
            TestHost.Start.at(target).limits(TestHost.Start.limits(depth, 10_000, 5_000)), io);
    controller = host.controller();
    access =
        new SectorAccess(
            controller.io(),
            controller.namespaces().get(0),
            depth,
            controller.data().maxTransfer(),
            this::send);
    host.onLost(() -> List.copyOf(waiting).forEach(move -> move.queueLost("with the target")));
  }

  private final class Move extends ByteTransfer {
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    Move(boolean write, ByteBuffer memory, int offset, int length, long position) {
      prepare(write, memory, memory, offset, length, position);
    }

    @Override
    protected void ended(int status) {
      end.complete(status);
    }

    @Override
    protected void lost(String cause) {
      waiting.remove(this);
      end.completeExceptionally(new TestHost.Lost(cause));
    }

    @Override
    protected boolean isGivenUp() {
      return false;
    }
  }

  private void send() {
    if (sending || host.isLost()) {
      return;
    }
    sending = true;
    while (!waiting.isEmpty() && access.begin(waiting.peek())) {
      waiting.poll();
    }
    sending = false;
    controller.io().flush();
  }

  CompletableFuture<Integer> begin(
      boolean write, ByteBuffer memory, int offset, int length, long position) {
    Move move = new Move(write, memory, offset, length, position);
    host.loop()
        .submit(
            () -> {
              if (host.isLost()) {
                move.lost("before");
                return;
              }
              waiting.add(move);
              send();
            });
    return move.end;
  }

  /** Waits until nothing can be sent any more, since all in flight stays unanswered. */
  void awaitSilence() throws Exception {
    CompletableFuture<Void> full = new CompletableFuture<>();
    long end = System.nanoTime() + TestHost.PATIENCE_SECONDS * 1_000_000_000L;
    while (!full.isDone()) {
      host.loop()
          .submit(
              () -> {
                if (!controller.io().hasRoom()) {
                  full.complete(null);
                }
              });
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("there is still room");
      }
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    host.close();
  }
}
