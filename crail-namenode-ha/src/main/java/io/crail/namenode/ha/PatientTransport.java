/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A transport that waits for an address which is in use. A peer listens on the same address each
 * time its part changes, and what it had there before may take a moment to end. Thread-safe.
 */
record PatientTransport(Transport transport) implements Transport {
  private static final int ATTEMPTS = 100;
  private static final long PAUSE_MILLIS = 100;

  @Override
  public ServerEndpoint listen(String name, InetSocketAddress address, Service service)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return transport.listen(name, address, service);
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
        pause(e);
      }
    }
  }

  private static void pause(IOException cause) throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw cause;
    }
  }

  @Override
  public ClientLoop newClientLoop(String name) {
    return transport.newClientLoop(name);
  }

  @Override
  public ClientLoop newOwnLoop(String name) {
    return transport.newOwnLoop(name);
  }

  @Override
  public RpcPeer.Options peerOptions() {
    return transport.peerOptions();
  }

  @Override
  public void close() {
    transport.close();
  }
}
