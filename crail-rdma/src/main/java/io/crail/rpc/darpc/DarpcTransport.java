/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import io.crail.rpc.netty.NettyTransport;
import io.crail.verbs.Availability;
import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * Frames over RDMA send and receive. Its client loops are those of TCP, so that data may travel
 * over TCP or RDMA on the same loop. Thread-safe.
 */
public final class DarpcTransport implements Transport {
  private final DarpcSettings settings;
  private final NettyTransport tcp;

  /**
   * Creates a transport; see {@link DarpcKeys}.
   *
   * @throws ConfigException when this process has no RDMA, or no device that allows the configured
   *     values
   */
  public DarpcTransport(Configuration configuration) {
    this.settings = DarpcSettings.of(configuration);
    // With less memory neither side could have a single connection.
    Availability availability = Availability.check(settings.connectionBytes());
    if (!availability.usable()) {
      throw new ConfigException(
          "key '"
              + TransportProvider.RPC_TYPE.name()
              + "' asks for RDMA: "
              + availability.problem());
    }
    settings.check(devices(availability.devices()));
    this.tcp = new NettyTransport(configuration);
  }

  private static List<Device> devices(List<String> names) {
    List<Device> devices = new ArrayList<>();
    for (String name : names) {
      try {
        devices.add(Verbs.device(name));
      } catch (VerbsException e) {
        // An unusable device is reported when a connection uses it. Another device may be usable.
      }
    }
    return devices;
  }

  @Override
  public ServerEndpoint listen(String name, InetSocketAddress address, Service service)
      throws IOException {
    return DarpcServer.listen(name, address, service, settings);
  }

  @Override
  public ClientLoop newClientLoop(String name) {
    return connected(tcp.newClientLoop(name));
  }

  @Override
  public ClientLoop newOwnLoop(String name) {
    return connected(tcp.newOwnLoop(name));
  }

  private ClientLoop connected(ClientLoop loop) {
    loop.connectThrough(new DarpcConnector(loop, settings));
    return loop;
  }

  @Override
  public RpcPeer.Options peerOptions() {
    return settings.peerOptions();
  }

  @Override
  public void close() {
    tcp.close();
  }
}
