/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.nvmf.Fabric;
import io.crail.nvmf.NvmeQueue;
import io.crail.rpc.netty.NettyClientLoop;
import java.net.InetSocketAddress;

/** Queues over TCP. */
public final class TcpFabric implements Fabric {
  private final NettyClientLoop loop;
  private final TcpOptions options;

  /** Creates the fabric of a loop. */
  public TcpFabric(NettyClientLoop loop, TcpOptions options) {
    this.loop = loop;
    this.options = options;
  }

  @Override
  public NvmeQueue open(
      InetSocketAddress address, int entries, long deadlineNanos, NvmeQueue.Listener listener) {
    TcpQueue queue = new TcpQueue(loop, options, entries - 1, listener);
    queue.open(address, deadlineNanos);
    return queue;
  }
}
