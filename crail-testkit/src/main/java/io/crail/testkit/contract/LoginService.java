/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.LoginHandler;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationServer;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.cluster.Ping;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that knows logins and pings only. Thread-safe. */
final class LoginService implements Service, LoginHandler.Host {
  private static final List<Operation<?, ?>> TABLE =
      List.of(NameNodeOperations.HELLO, NameNodeOperations.LOGIN, NameNodeOperations.PING);

  private final Queue<Caller> callers = new ConcurrentLinkedQueue<>();
  private final AtomicInteger served = new AtomicInteger();
  private final OperationServer server;

  /** Creates a server that takes these mechanisms. */
  LoginService(Mechanism... mechanisms) {
    OperationServer.Builder builder =
        OperationServer.builder(
            Map.of(
                TABLE.get(0).number(), TABLE.get(0),
                TABLE.get(1).number(), TABLE.get(1),
                TABLE.get(2).number(), TABLE.get(2)),
            NameNodeOperations.HELLO,
            NameNodeOperations.LOGIN);
    server =
        new LoginHandler(new Mechanisms(List.of(mechanisms)), this)
            .addTo(builder)
            .handle(NameNodeOperations.PING, this::ping)
            .build();
  }

  private Ping.Response ping(Ping.Request request, Session session) {
    callers.add(session.caller());
    return new Ping.Response(request.data());
  }

  /** The callers of all pings. */
  Queue<Caller> callers() {
    return callers;
  }

  /** Requests served, messages of logins among them. */
  int served() {
    return served.get();
  }

  @Override
  public void serve(RequestBatch batch, ResponseWriter responses) throws CrailException {
    server.serve(batch, responses);
    served.addAndGet(batch.count());
  }

  @Override
  public void closed(Session session) {
    server.closed(session);
  }

  @Override
  public void check(Hello.Request request) {}

  @Override
  public Hello.Response welcome(Claim claim, Caller caller, Session session) {
    return new Hello.Response(
        Frame.VERSION, 0, 1, 1 << 20, 4096, 0, false, 10_000, 1, 1, Utf8.of("crail"));
  }
}
