/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.config.Configuration;
import io.crail.protocol.ClusterKeys;
import io.crail.rpc.rdma.RdmaDevices;
import io.crail.rpc.rdma.RdmaException;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.rpc.rdma.RdmaSettings;
import io.crail.storage.LocalHost;
import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import io.crail.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Chooses the device that a datanode serves with. Stateless. */
final class ServedDevice {
  /** Entries of a connection's queues: a keep-alive, and a receive request that is never posted. */
  static final int QUEUE_LENGTH = 2;

  private ServedDevice() {}

  /** The devices of this host and their addresses, for messages. */
  static String all() {
    List<String> texts = new ArrayList<>();
    try {
      for (String name : Verbs.devices()) {
        texts.add(name + " " + addresses(Verbs.device(name)));
      }
    } catch (VerbsException e) {
      texts.add(e.getMessage());
    }
    return String.join(", ", texts);
  }

  private static List<String> addresses(Device device) {
    List<String> addresses = new ArrayList<>();
    for (Device.Port port : device.ports()) {
      for (Device.Gid gid : port.gids()) {
        String text = gid.text().replaceFirst("^::ffff:(?=\\d+\\.)", "");
        if (!text.startsWith("fe80:") && !addresses.contains(text)) {
          addresses.add(text);
        }
      }
    }
    return addresses;
  }

  /**
   * An address of the only device, for a datanode that serves on all addresses.
   *
   * @throws IOException when there is not exactly one device; it names the devices
   */
  static InetSocketAddress onlyAddress() throws IOException {
    List<String> names = Verbs.devices();
    if (names.size() != 1) {
      throw new RdmaException(
          "a datanode's memory belongs to one device, but there are "
              + names.size()
              + " that serve all addresses ("
              + all()
              + "); name one by key '"
              + RdmaStorageKeys.INTERFACE.name()
              + "'");
    }
    for (String text : addresses(Verbs.device(names.get(0)))) {
      InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(text), 0);
      if (contextOf(address) != 0) {
        return address;
      }
    }
    throw new RdmaException("device " + names.get(0) + " has no address");
  }

  /** Looks for the device as a datanode at its start does, for {@link RdmaStorageTier#examine}. */
  static String find(Configuration configuration) throws IOException {
    InetAddress wanted =
        LocalHost.address(
            configuration.get(RdmaStorageKeys.INTERFACE),
            configuration.get(ClusterKeys.NAMENODE_ADDRESS).all());
    InetSocketAddress address =
        wanted.isAnyLocalAddress() ? onlyAddress() : new InetSocketAddress(wanted, 0);
    int ackTimeout = RdmaSettings.of(configuration).ackTimeout();
    try (RdmaListener listener =
            RdmaListener.listen("doctor", address, 1, ackTimeout, request -> {});
        RdmaDevices devices = new RdmaDevices()) {
      return devices.of(listener.context(), listener.deviceName(), listener.address()).name()
          + " at "
          + wanted.getHostAddress();
    } catch (IOException e) {
      throw new RdmaException(e.getMessage() + "; there are " + all(), e);
    }
  }

  /** The connection manager's context of an address, 0 when it has none. */
  static long contextOf(InetSocketAddress address) throws IOException {
    long channel = Verbs.createEventChannel();
    try {
      long id = Verbs.createId(channel);
      try {
        Verbs.bind(id, address);
        return Verbs.context(id);
      } catch (VerbsException e) {
        // This host has lost the address in between.
        return 0;
      } finally {
        Verbs.destroyId(id);
      }
    } finally {
      Verbs.destroyEventChannel(channel);
    }
  }

  /**
   * Checks that a device can serve.
   *
   * @return a warning, or an empty text
   * @throws IOException when it cannot
   */
  static String check(Device device, long largestRegion, int regions, int connections)
      throws IOException {
    boolean active = false;
    String slow = "";
    for (Device.Port port : device.ports()) {
      active |= port.active();
      if (port.active() && port.activeMtuBytes() < port.maxMtuBytes()) {
        slow =
            "device "
                + device.name()
                + " sends packets of "
                + port.activeMtuBytes()
                + " bytes and could send "
                + port.maxMtuBytes()
                + "; a larger MTU of its network interface is faster";
      }
    }
    if (!active) {
      throw new RdmaException("no port of device " + device.name() + " is up");
    }
    if (largestRegion > device.maxMrBytes()) {
      throw refuse(RdmaStorageKeys.ALLOCATION_SIZE.name(), largestRegion, device.maxMrBytes());
    }
    if (regions > device.maxMrs()) {
      throw new RdmaException(
          "device "
              + device.name()
              + " registers at most "
              + device.maxMrs()
              + " regions, but these are "
              + regions
              + "; see key '"
              + RdmaStorageKeys.ALLOCATION_SIZE.name()
              + "'");
    }
    int mostConnections = Math.min(device.maxQps(), device.maxCqEntries() / QUEUE_LENGTH);
    if (connections > mostConnections) {
      throw refuse(RdmaStorageKeys.CONNECTION_LIMIT.name(), connections, mostConnections);
    }
    return slow;
  }

  private static IOException refuse(String key, long value, long most) {
    return new RdmaException(
        "key '" + key + "' is " + value + ", but the device allows at most " + most);
  }
}
