/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.Addresses;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.AskPeer;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Asks the other peers of a namenode what they have. For one thread. */
final class PeerCalls implements AutoCloseable {
  private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final int self;
  private final ClientLoop loop;
  private final Map<Integer, RpcPeer> others = new TreeMap<>();
  private final Map<Integer, String> silent = new TreeMap<>();
  private volatile AskPeer.Request request;

  PeerCalls(Transport transport, String name, List<InetSocketAddress> addresses, int self) {
    this.self = self;
    loop = transport.newOwnLoop(name);
    RpcPeer.Options once = transport.peerOptions().withPatienceNanos(0);
    for (int i = 0; i < addresses.size(); i++) {
      if (i != self) {
        // The question is the handshake: those that do not serve understand nothing else.
        others.put(i, new RpcPeer(loop, addresses.get(i), this::newCall, once));
      }
    }
  }

  private OperationCall<AskPeer.Request, AskPeer.Response> newCall(RpcPeer to) {
    OperationCall<AskPeer.Request, AskPeer.Response> call =
        new OperationCall<>(NameNodeOperations.ASK_PEER);
    call.prepare(to, request, loop.clock().nanoTime() + ANSWER_NANOS);
    return call;
  }

  /** Asks all others. Returns those that answer, by peer; {@link #silent} has the rest. */
  Map<Integer, AskPeer.Response> ask(AskPeer.Request question) throws InterruptedException {
    request = question;
    silent.clear();
    List<OperationCall<AskPeer.Request, AskPeer.Response>> calls = new ArrayList<>();
    for (RpcPeer each : others.values()) {
      OperationCall<AskPeer.Request, AskPeer.Response> call = newCall(each);
      call.submit();
      calls.add(call);
    }
    Map<Integer, AskPeer.Response> answers = new TreeMap<>();
    int next = 0;
    for (Map.Entry<Integer, RpcPeer> each : others.entrySet()) {
      int peer = each.getKey();
      String name = "peer " + peer + " at " + Addresses.text(each.getValue().address());
      try {
        AskPeer.Response answer = calls.get(next++).join();
        if (answer.peer() == peer) {
          answers.put(peer, answer);
        } else {
          silent.put(peer, name + " (it says that it is peer " + answer.peer() + ")");
        }
      } catch (CrailException e) {
        silent.put(peer, name + " (" + e.getMessage() + ")");
      }
    }
    return answers;
  }

  /** Those that have not answered the last time, with reasons, for users; empty if all have. */
  String silent() {
    return String.join(", ", silent.values());
  }

  /** How many other peers there are. */
  int count() {
    return others.size();
  }

  @Override
  public void close() {
    loop.submit(() -> others.values().forEach(RpcPeer::close));
    loop.close();
  }
}
