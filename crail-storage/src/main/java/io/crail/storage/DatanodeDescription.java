/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import io.crail.protocol.part.Region;
import io.crail.protocol.part.TierTraits;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A datanode, as it describes itself and as a client knows it.
 *
 * @param uuid identity of the datanode process; a restarted process has another
 * @param tier name of its tier
 * @param address where clients reach its tier, unresolved
 * @param storageClass the class that it serves
 * @param traits what its tier can do
 * @param regions its regions by index; for a client, as far as the asked namenode knows them
 * @param keeps whether its bytes outlast its process, so that it is worth waiting for
 */
public record DatanodeDescription(
    UUID uuid,
    String tier,
    InetSocketAddress address,
    int storageClass,
    TierTraits traits,
    Map<Integer, Region> regions,
    boolean keeps) {
  /** One that keeps nothing. */
  public DatanodeDescription(
      UUID uuid,
      String tier,
      InetSocketAddress address,
      int storageClass,
      TierTraits traits,
      Map<Integer, Region> regions) {
    this(uuid, tier, address, storageClass, traits, regions, false);
  }

  /** Describes a server that was started with an identity. */
  public static DatanodeDescription of(
      UUID uuid, String tier, InetSocketAddress address, int storageClass, StorageServer server) {
    return new DatanodeDescription(
        uuid,
        tier,
        InetSocketAddress.createUnresolved(address.getHostString(), address.getPort()),
        storageClass,
        server.traits(),
        server.regions().stream().collect(Collectors.toMap(Region::index, Function.identity())),
        server.kept().isPresent());
  }
}
