/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist;

import io.crail.common.Addresses;
import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.Hello;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.Operation;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** The namenodes as an administrator's command talks to them. */
final class Cluster implements AutoCloseable {
  private final List<InetSocketAddress> addresses;
  private final Transport transport;
  private final ClientLoop loop;
  private final NameNodeClient client;

  private final EmbeddedCluster embedded;

  private Cluster(EmbeddedCluster embedded, Configuration configuration) {
    this.embedded = embedded;
    addresses = configuration.get(ClusterKeys.NAMENODE_ADDRESS);
    transport = TransportProvider.open(configuration);
    loop = transport.newClientLoop("admin");
    NameNodeClient.Identity identity =
        new NameNodeClient.Identity(
            Hello.ROLE_CLIENT,
            ThreadLocalRandom.current().nextLong(),
            localHost(),
            configuration.get(ClusterKeys.CLUSTER_NAME));
    client =
        new NameNodeClient(
            loop,
            addresses,
            identity,
            transport.peerOptions(),
            configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos());
  }

  /** Makes ready to talk to the namenodes of a command's configuration; connects when it has to. */
  static Cluster of(CommandContext context) throws IOException {
    EmbeddedCluster embedded = new EmbeddedCluster(context);
    try {
      return new Cluster(embedded, embedded.openConfigured());
    } catch (IOException | RuntimeException e) {
      embedded.close();
      throw e;
    }
  }

  /** How many namenodes there are. */
  int count() {
    return addresses.size();
  }

  /** Names namenode {@code index} for a user. */
  String name(int index) {
    return "namenode " + index + " at " + Addresses.text(addresses.get(index));
  }

  /** Where a server listens: its numeric address and its port. */
  static String served(InetSocketAddress address) {
    return Addresses.text(address.getAddress().getHostAddress(), address.getPort());
  }

  /** Asks namenode {@code index} and waits for the answer. */
  <Q, R> R ask(int index, Operation<Q, R> operation, Q request)
      throws IOException, InterruptedException {
    return client.callAt(index, operation, request).join();
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "";
    }
  }

  @Override
  public void close() {
    client.close();
    loop.close();
    transport.close();
    embedded.close();
  }
}
