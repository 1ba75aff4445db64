/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Random;

/** How a datanode of a tier is started alone, in this process, and how a client reaches it. */
abstract class TierBench {
  /** Bytes of a block: the longest extent that is used. */
  static final int BLOCK = 1 << 20;

  /** Bytes of a region. */
  static final int REGION = 8 * BLOCK;

  /** The regions that the datanode has to lend. */
  static final int REGIONS = 2;

  private Random random;
  private Path directory;

  /** Gives it the source of its random choices, and a directory for region files. */
  final void prepare(Random source, Path dataPath) {
    this.random = source;
    this.directory = dataPath;
  }

  final Random random() {
    return random;
  }

  final Path directory() {
    return directory;
  }

  /** Creates a server with {@link #REGIONS} regions of {@link #REGION} bytes, not started. */
  abstract StorageServer newServer() throws Exception;

  /**
   * Creates another server on the address of one that was closed, not started.
   *
   * @param address the address that the other had
   */
  abstract StorageServer newServerAt(InetSocketAddress address) throws Exception;

  /** Creates the loop of a client. */
  abstract ClientLoop newLoop() throws Exception;

  /** Creates the client part of the tier. */
  abstract StorageClient newClient(ClientLoop loop) throws Exception;

  /** Connects to a datanode; the mapped access has another way than a tier's client. */
  StorageEndpoint connect(StorageClient client, DatanodeDescription datanode) throws Exception {
    return client.connect(datanode);
  }

  /** False when everything runs in one thread, as in a simulation. */
  boolean isThreaded() {
    return true;
  }

  /**
   * False when clients reach the bytes without the datanode, at a target that knows neither
   * datanodes nor fences.
   */
  boolean isOnThePath() {
    return true;
  }

  /** Most bytes that a transfer may allocate on both sides together; negative: any number. */
  int bytesOfTransfer() {
    return 0;
  }

  /** Closes what it has opened; the servers, endpoints and loops are closed before. */
  void close() throws Exception {}
}
