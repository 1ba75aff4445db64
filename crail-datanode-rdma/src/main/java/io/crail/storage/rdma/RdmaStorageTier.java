/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.ByteText;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.TransportProvider;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.HostFindings;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.TierArguments;
import io.crail.verbs.Availability;
import java.io.IOException;
import java.util.List;

/**
 * Storage in a datanode's memory, read and written by its clients' devices without the datanode's
 * processor. It knows no generations: a client that has a region's key may use the whole region.
 */
public final class RdmaStorageTier implements StorageTier {
  /** The short name. */
  public static final String NAME = RdmaStorageKeys.TIER;

  /** What clients lock is little. */
  private static final long ENOUGH_LOCKED = 64L << 20;

  private static final String RAISE_LOCKED =
      "ulimit -l unlimited, memlock in /etc/security/limits.conf, LimitMEMLOCK in systemd";

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public RdmaStorageTier() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public TierArguments arguments() {
    return RdmaStorageKeys.HOST.arguments();
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    return new RdmaStorageServer(arguments().apply(configuration, arguments));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    Availability availability = Availability.check();
    if (!availability.usable()) {
      throw ErrorCode.UNSUPPORTED.exception("tier rdma: " + availability.problem());
    }
    return new Client(context);
  }

  /** Its port is not one of TCP. */
  @Override
  public PlannedDatanode plan(Configuration configuration, List<String> arguments) {
    return RdmaStorageKeys.HOST.plan(configuration, arguments).withoutPort();
  }

  /** Needed if only metadata travel over RDMA. */
  @Override
  public boolean isNeededWithoutStorage(Configuration configuration) {
    return configuration.get(TransportProvider.RPC_TYPE).equals("darpc");
  }

  @Override
  public void examine(
      Configuration configuration, List<PlannedDatanode> datanodes, HostFindings findings) {
    long lent = datanodes.stream().mapToLong(PlannedDatanode::bytes).sum();
    Availability rdma = Availability.check(lent);
    if (!rdma.usable()) {
      findings.broken("RDMA cannot be used", rdma.problem());
      return;
    }
    findings.ok("RDMA devices: " + String.join(", ", rdma.devices()));
    if (rdma.memlockLimitBytes() < ENOUGH_LOCKED) {
      findings.warning(
          "a process may lock " + ByteText.of(rdma.memlockLimitBytes()) + " of memory",
          RAISE_LOCKED);
    }
    datanodes.stream()
        .map(PlannedDatanode::networkInterface)
        .distinct()
        .forEach(each -> examineDevice(configuration, each, findings));
  }

  private static void examineDevice(
      Configuration configuration, String networkInterface, HostFindings findings) {
    Configuration own =
        configuration.toBuilder().set(RdmaStorageKeys.INTERFACE, networkInterface).build();
    try {
      findings.ok("a datanode of tier rdma would serve with " + ServedDevice.find(own));
    } catch (IOException e) {
      findings.cannotServe(NAME, e);
    }
  }

  /** The client part of the RDMA tier. */
  static final class Client implements StorageClient {
    private final SharedRdma shared;

    /**
     * Creates the client part, without looking for a device.
     *
     * @throws ConfigException when values contradict each other
     */
    Client(Context context) {
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
}
