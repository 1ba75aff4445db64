/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.Digests;
import io.crail.nvmf.Fabric;
import io.crail.nvmf.NvmeQueue;
import io.crail.nvmf.QueueId;
import io.crail.rpc.netty.NettyClientLoop;
import java.net.InetSocketAddress;

/** Queues over TCP. */
public final class TcpFabric implements Fabric {
  private final NettyClientLoop loop;
  private final Digests digests;

  /** Creates the fabric of a loop. */
  public TcpFabric(NettyClientLoop loop, Digests digests) {
    this.loop = loop;
    this.digests = digests;
  }

  @Override
  public NvmeQueue open(
      InetSocketAddress address,
      QueueId queueId,
      int entries,
      long deadlineNanos,
      NvmeQueue.Listener listener) {
    TcpQueue queue = new TcpQueue(loop, digests, entries - 1, listener);
    queue.open(address, deadlineNanos);
    return queue;
  }
}
