/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.verbs.Availability;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.util.List;

/**
 * Storage in a datanode's memory, read and written by its clients' devices without the datanode's
 * processor. It knows no generations: a client that has a region's key may use the whole region.
 */
public final class RdmaStorageTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "rdma";

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public RdmaStorageTier() {}

  /**
   * Finds the device with which a datanode of this host would serve.
   *
   * @return its name and the address
   * @throws IOException that says why there is none, and names the devices
   */
  public static String device(Configuration configuration) throws IOException {
    return ServedDevice.find(configuration);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    return new RdmaStorageServer(RdmaStorageKeys.HOST.arguments().apply(configuration, arguments));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    Availability availability = Verbs.check();
    if (!availability.usable()) {
      throw ErrorCode.UNSUPPORTED.exception("tier rdma: " + availability.problem());
    }
    return new RdmaStorageClient(context.loop(), context.configuration(), context.clientId());
  }
}
