/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.ConfigException;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;

/** The client part of the RDMA tier. */
final class RdmaStorageClient implements StorageClient {
  private final SharedRdma shared;

  /**
   * Creates the client part, without looking for a device.
   *
   * @throws ConfigException when values contradict each other
   */
  RdmaStorageClient(Context context) {
    this.shared = new SharedRdma(context);
  }

  @Override
  public StorageEndpoint connect(DatanodeDescription datanode) {
    return new RdmaStorageEndpoint(shared, datanode);
  }

  @Override
  public void close() {
    shared.close();
  }
}
