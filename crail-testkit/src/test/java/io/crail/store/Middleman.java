/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands between clients and a datanode of the TCP tier. The test says how much passes before the
 * rest is held back, and when the connections end. Thread-safe.
 */
final class Middleman implements AutoCloseable {
  private static final int CHUNK = 16 << 10;
  private static final long UNLIMITED = Long.MAX_VALUE;

  private final ServerSocket listener = new ServerSocket();
  private final List<Socket> sockets = new ArrayList<>();
  private InetSocketAddress datanode;
  private long left = UNLIMITED;
  private int holding;
  private boolean refuses;

  Middleman() throws IOException {
    // So that a large write does not fit, however much a tuned kernel would take.
    listener.setReceiveBufferSize(256 << 10);
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    start(this::accept);
  }

  /** The TCP tier for a client, which takes this for the datanode. */
  StorageTier tier(String name) {
    StorageTier tier = StorageTier.find(name);
    return new StorageTier() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public StorageServer createServer(Configuration configuration, List<String> arguments) {
        return tier.createServer(configuration, arguments);
      }

      @Override
      public StorageClient createClient(StorageClient.Context context) throws CrailException {
        StorageClient client = tier.createClient(context);
        return new StorageClient() {
          @Override
          public StorageEndpoint connect(DatanodeDescription described) {
            return client.connect(replace(described));
          }

          @Override
          public void close() {
            client.close();
          }
        };
      }
    };
  }

  private synchronized DatanodeDescription replace(DatanodeDescription described) {
    datanode = described.address();
    return new DatanodeDescription(
        described.uuid(),
        described.tier(),
        (InetSocketAddress) listener.getLocalSocketAddress(),
        described.storageClass(),
        described.traits(),
        described.regions());
  }

  /** Holds back what comes after so many more bytes of both directions. */
  synchronized void letPass(long bytes) {
    left = bytes;
    notifyAll();
  }

  /** Holds nothing back any more. */
  void letAllPass() {
    letPass(UNLIMITED);
  }

  /** Waits until something is held back. */
  void awaitHeld() throws Exception {
    TestCluster.await("something to hold back", this::isHolding);
  }

  private synchronized boolean isHolding() {
    return holding > 0;
  }

  /**
   * Ends all connections, with what is held back; new ones let all pass.
   *
   * @param forGood whether new connections end at once
   */
  synchronized void cut(boolean forGood) throws IOException {
    refuses = forGood;
    left = UNLIMITED;
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
    notifyAll();
  }

  /** Lets new connections live again. */
  synchronized void heal() {
    refuses = false;
  }

  private void accept() {
    try {
      while (true) {
        connect(listener.accept());
      }
    } catch (IOException e) {
      // This was closed.
    }
  }

  private synchronized void connect(Socket client) throws IOException {
    if (refuses) {
      client.close();
      return;
    }
    Socket server = new Socket(InetAddress.getByName(datanode.getHostString()), datanode.getPort());
    client.setTcpNoDelay(true);
    server.setTcpNoDelay(true);
    sockets.add(client);
    sockets.add(server);
    start(() -> pass(client, server));
    start(() -> pass(server, client));
  }

  private void pass(Socket from, Socket to) {
    byte[] bytes = new byte[CHUNK];
    try (from;
        to) {
      for (int count = from.getInputStream().read(bytes);
          count >= 0 && admit(count, from);
          count = from.getInputStream().read(bytes)) {
        to.getOutputStream().write(bytes, 0, count);
      }
    } catch (IOException e) {
      // One of the sides has ended.
    }
  }

  /** Waits until bytes may pass; false when their connection ends first. */
  private synchronized boolean admit(int count, Socket from) {
    holding++;
    try {
      while (left < count && !from.isClosed()) {
        wait(60_000);
      }
    } catch (InterruptedException e) {
      return false;
    } finally {
      holding--;
    }
    left -= left == UNLIMITED ? 0 : count;
    return !from.isClosed();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "middleman");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      listener.close();
      cut(true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
