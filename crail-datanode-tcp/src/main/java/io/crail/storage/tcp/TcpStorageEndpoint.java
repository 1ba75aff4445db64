/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import io.crail.common.error.CrailException;
import io.crail.rpc.netty.Dialer;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.Transfer;
import io.crail.storage.network.NetworkEndpoint;
import io.crail.storage.network.TransferQueue;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;

/**
 * A datanode of the TCP tier as a client reaches it. A transfer may be sent twice only under the
 * same generation. When a write is given up, its connection is closed, so no byte of it arrives
 * after its end. The bytes of a read that is given up are dropped when they arrive.
 */
final class TcpStorageEndpoint extends NetworkEndpoint<TcpTransfer> implements DataClientEnd.Owner {
  private static final int MAX_REPEATS = 1;

  private final NettyClientLoop netty;
  private final DatanodeDescription datanode;
  private final StorageClient.Context context;
  private final int depth;

  private Dial dial;
  private DataClientEnd connection;

  TcpStorageEndpoint(
      NettyClientLoop loop,
      DatanodeDescription datanode,
      StorageClient.Context context,
      int depth,
      long connectTimeoutNanos) {
    super(loop, datanode, connectTimeoutNanos, MAX_REPEATS);
    this.netty = loop;
    this.datanode = datanode;
    this.context = context;
    this.depth = depth;
  }

  @Override
  protected TcpTransfer stateOf(Transfer transfer, boolean write) {
    return TcpTransfer.of(transfer, this, write);
  }

  @Override
  protected void queued(TcpTransfer transfer) {
    send();
  }

  @Override
  protected void sendQueued() {
    while (isReady() && !queue().isEmpty() && connection.hasRoom()) {
      DataClientEnd current = connection;
      current.send(queue().pollFirst());
      if (current.wantsFlush()) {
        current.flush();
      } else {
        flushLater();
      }
    }
  }

  @Override
  protected void flush() {
    if (connection != null) {
      connection.flush();
    }
  }

  @Override
  protected void connect(long deadlineNanos) {
    ClientHandshake handshake;
    try {
      handshake = new ClientHandshake(context, datanode.uuid());
    } catch (CrailException e) {
      refused(e);
      return;
    }
    dial = new Dial();
    netty.connect(
        address(),
        deadlineNanos,
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            new DataClientEnd(TcpStorageEndpoint.this, netty, datanode, handshake, depth)
                .initialize(channel);
          }
        },
        dial);
  }

  /** One attempt to connect. Its result counts only while it is the present attempt. */
  private final class Dial implements Dialer.Listener {
    @Override
    public void connected(Channel channel) {
      if (dial != this) {
        channel.close();
        return;
      }
      dial = null;
      connection = channel.pipeline().get(DataClientEnd.class);
      connection.open();
    }

    @Override
    public void failed(String cause) {
      if (dial == this) {
        dial = null;
        notConnected(cause);
      }
    }
  }

  @Override
  public void ready(DataClientEnd opened) {
    if (opened == connection) {
      connected();
    }
  }

  @Override
  public void refused(DataClientEnd opened, CrailException cause) {
    if (opened == connection) {
      abandonConnection();
      helloRefused(cause.code(), cause.getMessage());
    }
  }

  @Override
  public void lost(DataClientEnd gone, String cause) {
    if (gone != connection) {
      return;
    }
    boolean useful = gone.hasAnswered();
    TransferQueue<TcpTransfer> inFlight = abandonConnection();
    TransferQueue<TcpTransfer> hopeless = takeHopeless(inFlight);
    connectionLost(cause, useful, inFlight, hopeless);
  }

  /** Forgets the present connection; returns the transfers that it had in flight, in order. */
  private TransferQueue<TcpTransfer> abandonConnection() {
    DataClientEnd old = connection;
    dial = null;
    connection = null;
    return old == null ? new TransferQueue<>() : old.abandon();
  }

  @Override
  protected void disconnect(CrailException cause) {
    abandonConnection().endAll(cause);
  }

  @Override
  protected void watch(long nowNanos) {
    connection.expire(nowNanos);
  }
}
