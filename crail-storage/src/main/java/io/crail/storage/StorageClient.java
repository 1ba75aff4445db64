/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;

/** The client part of a tier, for one loop. */
public interface StorageClient extends AutoCloseable {
  /**
   * The surroundings of a tier's client part.
   *
   * @param configuration the store's configuration
   * @param transport the store's transport
   * @param loop the loop that its connections belong to
   * @param clientId the identity of the store, the same as to namenodes
   * @param credentials what its connections log in with
   */
  record Context(
      Configuration configuration,
      Transport transport,
      ClientLoop loop,
      long clientId,
      DataCredentials credentials) {
    /** The surroundings of a client that proves nothing. */
    public Context(
        Configuration configuration, Transport transport, ClientLoop loop, long clientId) {
      this(configuration, transport, loop, clientId, DataCredentials.ANYBODY);
    }
  }

  /** Creates the endpoint of a datanode, without waiting for a connection. */
  StorageEndpoint connect(DatanodeDescription datanode);

  /** Releases what the endpoints share. The endpoints are closed before. */
  @Override
  void close();
}
