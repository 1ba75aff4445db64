/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.rpc.ClientLoop;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * What every {@link Transport} and the engine above it promise: whole frames in order, typed ends
 * for every call, and no damage to others. A subclass says how to make a transport.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
public abstract class TransportContract
    implements CallTests,
        LoginTests,
        LimitTests,
        CallFaultTests,
        ConnectionFaultTests,
        HeldAnswerTests,
        CommitTests,
        EndTests {
  private final List<AutoCloseable> resources = new ArrayList<>();
  private Transport transport;
  private EchoService service;

  /** For subclasses. */
  protected TransportContract() {}

  /** The transport of the client side, made before each test. */
  protected abstract Transport newTransport();

  /** The transport of the server side; the client's where there is no difference. */
  protected Transport serverTransport(Transport clients) {
    return clients;
  }

  /** An address on which any free port may be taken. */
  protected abstract InetSocketAddress anyAddress();

  @Override
  public boolean isThreaded() {
    return true;
  }

  @Override
  public int bytesOfCall() {
    return 0;
  }

  @Override
  public void pass() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void holdAnswers() {
    service.stall();
  }

  @Override
  public void releaseAnswers() {
    service.resume();
  }

  @BeforeEach
  final void open() {
    transport = newTransport();
    service = new EchoService();
  }

  @AfterEach
  final void closeAll() throws Exception {
    service.resume();
    for (int i = resources.size() - 1; i >= 0; i--) {
      resources.get(i).close();
    }
    resources.clear();
    transport.close();
  }

  @Override
  public final EchoService service() {
    return service;
  }

  @Override
  public final void renewService() {
    service = new EchoService();
  }

  @Override
  public final Transport.ServerEndpoint newServer() throws IOException {
    return newServer(anyAddress());
  }

  @Override
  public final Transport.ServerEndpoint newServer(InetSocketAddress address) throws IOException {
    return newServer(address, service);
  }

  @Override
  public final Transport.ServerEndpoint newServer(Service other) throws IOException {
    return newServer(anyAddress(), other);
  }

  private Transport.ServerEndpoint newServer(InetSocketAddress address, Service of)
      throws IOException {
    Transport.ServerEndpoint server = serverTransport(transport).listen("contract", address, of);
    resources.add(server);
    return server;
  }

  @Override
  public final ClientLoop newLoop() {
    ClientLoop loop = transport.newClientLoop("contract");
    resources.add(loop);
    return loop;
  }
}
