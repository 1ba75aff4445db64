/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.NameNodeServer;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.protocol.part.NodePath;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two namenodes and their clients in one thread, on a network that fails, beside a model. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class SimulatedNamespaceTest {
  private static final int NAMENODES = 2;
  private static final int CLIENTS = 3;
  private static final int NAMES = 40;
  private static final int STEPS = 3_000;
  private static final long SECOND = 1_000_000_000L;

  /** What the model knows about a name. */
  private enum Known {
    ABSENT,
    PRESENT,
    NOTHING
  }

  private final Map<String, Known> model = new HashMap<>();

  @Test
  void agreesWithTheModelWheneverTheAnswerIsKnown() throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    SimulatedNetwork network = new SimulatedNetwork(seed);
    Configuration configuration =
        Configuration.builder().set(ClusterKeys.CLUSTER_NAME, "simulated").build();
    List<NameNodeServer> servers = new ArrayList<>();
    List<InetSocketAddress> addresses = new ArrayList<>();
    List<ClientLoop> loops = new ArrayList<>();
    try {
      for (int i = 0; i < NAMENODES; i++) {
        InetSocketAddress address = InetSocketAddress.createUnresolved("namenode-" + i, 9060);
        servers.add(
            NameNodeServer.start(
                configuration,
                i,
                NAMENODES,
                address,
                network.transport("namenode-" + i),
                network.clock()));
        addresses.add(address);
      }
      List<NameNodeClient> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        ClientLoop loop = network.transport("client-" + i).newClientLoop("client-" + i);
        loops.add(loop);
        clients.add(
            new NameNodeClient(
                loop,
                addresses,
                new NameNodeClient.Identity(Hello.ROLE_CLIENT, 100 + i, "client-" + i, "simulated"),
                RpcPeer.Options.defaults(),
                10 * SECOND));
      }
      network.breakConnections(0.03);
      Random random = network.random();
      for (int step = 0; step < STEPS; step++) {
        if (step % 500 == 250) {
          network.partition("client-0", "namenode-1");
          network.schedule(Duration.ofSeconds(2), () -> network.heal("client-0", "namenode-1"));
        }
        act(clients.get(random.nextInt(CLIENTS)), random);
      }
      network.breakConnections(0);
      network.runFor(Duration.ofSeconds(5));
      for (int name = 0; name < NAMES; name++) {
        look(clients.get(0), "/n" + name);
      }
      assertTrue(network.broken() > 0, "no fault at all");
    } finally {
      loops.forEach(ClientLoop::close);
      servers.forEach(NameNodeServer::close);
    }
  }

  private void act(NameNodeClient client, Random random) throws Exception {
    String path = "/n" + random.nextInt(NAMES);
    switch (random.nextInt(4)) {
      case 0:
        create(client, path, random.nextLong() | 1);
        break;
      case 1:
        remove(client, path);
        break;
      default:
        look(client, path);
    }
  }

  private void create(NameNodeClient client, String path, long token) throws Exception {
    Known before = model.getOrDefault(path, Known.ABSENT);
    Create.Request request =
        new Create.Request(
            NodeType.DIRECTORY,
            true,
            false,
            false,
            0644,
            Create.PARENT_CLASS,
            token,
            NodePath.parse(path),
            Utf8.of(""));
    ErrorCode code = end(client.call(NameNodeOperations.CREATE, request));
    switch (code) {
      case OK:
        assertTrue(before != Known.PRESENT, path + " was created twice");
        model.put(path, Known.PRESENT);
        break;
      case NODE_EXISTS:
        // Also the answer to the second sending of a request whose first answer was lost.
        model.put(path, Known.PRESENT);
        break;
      default:
        doubt(path, code);
    }
  }

  private void remove(NameNodeClient client, String path) throws Exception {
    Known before = model.getOrDefault(path, Known.ABSENT);
    ErrorCode code =
        end(
            client.call(
                NameNodeOperations.REMOVE, new Remove.Request(false, NodePath.parse(path))));
    switch (code) {
      case OK:
        assertTrue(before != Known.ABSENT, path + " was removed twice");
        model.put(path, Known.ABSENT);
        break;
      case NODE_NOT_FOUND:
        model.put(path, Known.ABSENT);
        break;
      default:
        doubt(path, code);
    }
  }

  private void look(NameNodeClient client, String path) throws Exception {
    Known before = model.getOrDefault(path, Known.ABSENT);
    ErrorCode code =
        end(client.call(NameNodeOperations.LOOKUP, new Lookup.Request(NodePath.parse(path))));
    if (code == ErrorCode.OK || code == ErrorCode.NODE_NOT_FOUND) {
      Known seen = code == ErrorCode.OK ? Known.PRESENT : Known.ABSENT;
      if (before != Known.NOTHING) {
        assertEquals(before, seen, path);
      }
      model.put(path, seen);
    } else {
      assertTrue(code == ErrorCode.TIMED_OUT || code == ErrorCode.UNAVAILABLE, code.name());
    }
  }

  /** The operation may have taken place, or not. */
  private void doubt(String path, ErrorCode code) {
    assertTrue(code == ErrorCode.TIMED_OUT || code == ErrorCode.UNAVAILABLE, code.name());
    model.put(path, Known.NOTHING);
  }

  private static ErrorCode end(OperationCall<?, ?> call) throws InterruptedException {
    try {
      call.join();
      return ErrorCode.OK;
    } catch (CrailException e) {
      return e.code();
    }
  }
}
