/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.rdma;

import io.crail.nvmf.Fabric;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.QueueId;
import io.crail.rpc.loop.Sweepable;
import io.crail.rpc.rdma.RdmaLoop;
import io.crail.rpc.rdma.memory.UserMemory;
import java.net.InetSocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Queues over RDMA, and the users' memory that targets may read and write. */
final class RdmaFabric implements Fabric, Sweepable {
  private final RdmaLoop rdma;
  private final UserMemory memory;
  private final Set<RdmaQueue> queues = new LinkedHashSet<>();
  private boolean closed;

  RdmaFabric(RdmaLoop rdma, long registrationLimit) {
    this.rdma = rdma;
    this.memory =
        new UserMemory(
            rdma,
            UserMemory.Access.PEERS,
            registrationLimit,
            NvmeRdmaKeys.REGISTRATION_LIMIT.name());
    rdma.loop().register(this);
  }

  @Override
  public NvmeQueue open(
      InetSocketAddress address,
      QueueId id,
      int entries,
      long deadlineNanos,
      NvmeQueue.Listener listener) {
    RdmaQueue queue = new RdmaQueue(rdma, memory, id, entries, listener, queues::remove);
    queues.add(queue);
    queue.open(address, deadlineNanos);
    return queue;
  }

  @Override
  public void sweep(long nowNanos) {
    if (queues.stream().anyMatch(RdmaQueue::isWaiting)) {
      // A copy, since owners that learn of an end may open queues and close them.
      List.copyOf(queues).forEach(RdmaQueue::continueWaiting);
    }
  }

  @Override
  public void loopClosing() {
    close();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (RdmaQueue queue : List.copyOf(queues)) {
      queue.close("closed by this side");
    }
    memory.close();
    rdma.loop().unregister(this);
  }
}
