/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.programs;

import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.Operation;
import io.crail.protocol.cluster.Hello;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Asks all namenodes what the client API does not offer. Used by one thread at a time. */
public final class NamenodeQuery implements AutoCloseable {
  private final Transport transport;
  private final ClientLoop loop;
  private final NameNodeClient client;

  private NamenodeQuery(Configuration configuration, String name) throws IOException {
    transport = TransportProvider.open(configuration);
    loop = transport.newClientLoop(name);
    client =
        new NameNodeClient(
            loop,
            configuration.get(ClusterKeys.NAMENODE_ADDRESS),
            new NameNodeClient.Identity(
                Hello.ROLE_CLIENT,
                ThreadLocalRandom.current().nextLong(),
                "",
                configuration.get(ClusterKeys.CLUSTER_NAME)),
            transport.peerOptions(),
            configuration.get(ClusterKeys.RPC_TIMEOUT).toNanos());
  }

  /**
   * Prepares to ask the namenodes of a configuration.
   *
   * @param name names its thread
   */
  public static NamenodeQuery open(Configuration configuration, String name) throws IOException {
    return new NamenodeQuery(configuration, name);
  }

  /**
   * Asks all, one after the other.
   *
   * @return their answers
   * @throws IOException when one does not answer
   */
  public <Q, R> List<R> ask(Operation<Q, R> operation, Q request)
      throws IOException, InterruptedException {
    List<R> answers = new ArrayList<>();
    for (int index = 0; index < client.count(); index++) {
      answers.add(client.callAt(index, operation, request).join());
    }
    return answers;
  }

  @Override
  public void close() {
    client.close();
    loop.close();
    transport.close();
  }
}
