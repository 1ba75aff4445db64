/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.guest;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.storage.HostFindings;
import io.crail.storage.PlannedDatanode;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageServer;
import io.crail.storage.StorageTier;
import io.crail.storage.TierArguments;
import io.crail.storage.TierArguments.Argument;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.storage.tcp.TcpStorageTier;
import java.nio.file.Path;
import java.util.List;

/** The tier "guest": memory over TCP, in regions of 8 MiB, with fewer arguments. */
public final class GuestTier implements StorageTier {
  /** The short name. */
  public static final String NAME = "guest";

  private static final TierArguments ARGUMENTS =
      new TierArguments(
          NAME,
          List.of(
              new Argument("-g", "bytes", TcpStorageKeys.STORAGE_LIMIT, "how much the guest lends"),
              new Argument("-d", "directory", TcpStorageKeys.DATA_PATH, "where it keeps that"),
              new Argument("-p", "port", TcpStorageKeys.PORT, "port to serve on")));

  private final TcpStorageTier tcp = new TcpStorageTier();

  /** Creates the tier; for {@link java.util.ServiceLoader}. */
  public GuestTier() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public TierArguments arguments() {
    return ARGUMENTS;
  }

  @Override
  public StorageServer createServer(Configuration configuration, List<String> arguments) {
    Configuration own =
        ARGUMENTS.apply(configuration, arguments).toBuilder()
            .set(TcpStorageKeys.ALLOCATION_SIZE, 8 << 20)
            .build();
    return tcp.createServer(own, List.of());
  }

  @Override
  public List<String> sharedArguments(Path directory, long bytes) {
    return List.of("-p", "0", "-d", directory.toString(), "-g", String.valueOf(bytes));
  }

  @Override
  public StorageClient createClient(StorageClient.Context context) throws CrailException {
    return tcp.createClient(context);
  }

  @Override
  public void examine(
      Configuration configuration, List<PlannedDatanode> datanodes, HostFindings findings) {
    findings.ok("datanodes of the guest that are to run here: " + datanodes.size());
  }
}
