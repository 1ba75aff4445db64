/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.error.CrailException;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.Connector;
import io.crail.rpc.loop.Sweepable;
import io.crail.rpc.rdma.QueuePair;
import io.crail.rpc.rdma.RdmaDevice;
import io.crail.rpc.rdma.RdmaLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Makes the metadata connections of a client loop. Used in the loop. */
final class DarpcConnector implements Connector, Sweepable, RdmaLoop.DeviceUser {
  private final ClientLoop loop;
  private final DarpcSettings settings;
  private Workspace workspace;

  DarpcConnector(ClientLoop loop, DarpcSettings settings) {
    this.loop = loop;
    this.settings = settings;
  }

  @Override
  public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
    RdmaLoop rdma;
    try {
      rdma = RdmaLoop.of(loop, settings.rdma());
    } catch (CrailException e) {
      handler.closed(e.getMessage());
      return;
    }
    if (workspace == null) {
      workspace = new Workspace(settings);
      loop.register(this);
      rdma.register(this);
    }
    rdma.connect(
        address,
        deadlineNanos,
        settings.queues(),
        settings.greeting().encode(),
        new Attempt(rdma, address, handler));
  }

  @Override
  public void sweep(long nowNanos) {}

  @Override
  public void deviceRemoved(RdmaDevice device) {
    workspace.release(device);
  }

  @Override
  public void loopClosing() {
    workspace.close();
  }

  /** An attempt to connect. Only its last queue pair counts. */
  private final class Attempt implements RdmaLoop.ConnectListener {
    private final RdmaLoop rdma;
    private final InetSocketAddress address;
    private final Connection.Handler handler;
    private ClientMessenger messenger;
    private String trouble;

    Attempt(RdmaLoop rdma, InetSocketAddress address, Connection.Handler handler) {
      this.rdma = rdma;
      this.address = address;
      this.handler = handler;
    }

    @Override
    public QueuePair.Handler created(QueuePair pair) {
      try {
        messenger =
            new ClientMessenger(
                new MessagePort.OfQueuePair(pair, workspace),
                workspace.pool(pair.device()),
                settings,
                rdma,
                address,
                handler);
        return messenger;
      } catch (IOException e) {
        trouble = e.getMessage();
        pair.close(trouble);
        return null;
      }
    }

    @Override
    public void connected(QueuePair pair, ByteBuffer peerData) {
      try {
        messenger.connected(Greeting.decode(peerData));
      } catch (CrailException e) {
        pair.close(e.getMessage());
        handler.closed(e.getMessage());
      }
    }

    @Override
    public void failed(String cause, ByteBuffer peerData) {
      String reason = Greeting.reason(peerData);
      handler.closed(trouble != null ? trouble : reason.isEmpty() ? cause : reason);
    }
  }
}
