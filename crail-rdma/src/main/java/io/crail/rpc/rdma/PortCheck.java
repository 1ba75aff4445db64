/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import io.crail.verbs.Device;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Checks by the kernel's information whether the port of an address is suitable for connections.
 */
final class PortCheck {
  private static final Path SYSFS = Path.of("/sys/class");

  /** Most bytes around the payload of a RoCE v2 packet. */
  private static final int OVERHEAD = 80;

  private static final int LEAST_MTU = 256;
  private static final String ROCE_V2 = "RoCE v2";

  private final Path sysfs;
  private final Device device;
  private final Device.Port port;
  private final String address;
  private final List<Device.Gid> gids;

  /**
   * Creates a check of a port.
   *
   * @param sysfs the directory that is /sys/class, except in tests
   * @param number of the port, counted from 1
   */
  PortCheck(Path sysfs, Device device, int number, InetAddress address) {
    this.sysfs = sysfs;
    this.device = device;
    this.port = device.ports().get(number - 1);
    // Without the interface name of a link-local address.
    this.address = address.getHostAddress().replaceFirst("%.*", "");
    String gid = address.getAddress().length == 4 ? "::ffff:" + this.address : this.address;
    this.gids = port.gids().stream().filter(each -> each.text().equals(gid)).toList();
  }

  PortCheck(Device device, int number, InetAddress address) {
    this(SYSFS, device, number, address);
  }

  /**
   * Checks that the address is one of the port's GIDs, of the RoCE version that is routed. Networks
   * other than RoCE are not checked, since their GIDs are not addresses.
   *
   * @throws RdmaException that names device, port and address
   */
  void checkGid() throws RdmaException {
    if (port.linkLayer() != Device.LinkLayer.ETHERNET || isIwarp()) {
      return;
    }
    if (gids.isEmpty()) {
      throw new RdmaException(
          name() + " has no GID for the address " + address + ", but " + texts(port.gids()));
    }
    TreeSet<String> versions = new TreeSet<>();
    for (Device.Gid gid : gids) {
      versions.add(attribute("types", gid.index(), ROCE_V2));
    }
    if (!versions.contains(ROCE_V2)) {
      throw new RdmaException(
          name()
              + " has the GID of the address "
              + address
              + " only as "
              + String.join(", ", versions)
              + "; it has to be "
              + ROCE_V2);
    }
  }

  /** A warning about the size of packets; empty when it fits the network interface. */
  String mtuWarning() {
    int possible = possibleMtu();
    String what = name() + " sends packets of " + port.activeMtuBytes() + " bytes";
    if (port.activeMtuBytes() < possible) {
      return what
          + ", but its network interface "
          + networkInterface()
          + " has room for "
          + possible
          + "; make sure that the device learns the interface's MTU";
    }
    if (port.activeMtuBytes() == LEAST_MTU) {
      return what + ", the fewest there are; a larger MTU of its network interface is faster";
    }
    return "";
  }

  private int possibleMtu() {
    int interfaceMtu;
    try {
      interfaceMtu =
          Integer.parseInt(read(sysfs.resolve("net").resolve(networkInterface()).resolve("mtu")));
    } catch (IOException | NumberFormatException e) {
      // There is no interface, as on InfiniBand, or it is in another namespace.
      return 0;
    }
    int possible = 0;
    for (int mtu = LEAST_MTU; mtu <= Math.min(port.maxMtuBytes(), interfaceMtu - OVERHEAD); ) {
      possible = mtu;
      mtu *= 2;
    }
    return possible;
  }

  private String networkInterface() {
    return gids.isEmpty() ? "" : attribute("ndevs", gids.get(0).index(), "");
  }

  private boolean isIwarp() {
    try {
      return read(sysfs.resolve("infiniband").resolve(device.name()).resolve("node_type"))
          .startsWith("4:");
    } catch (IOException e) {
      return false;
    }
  }

  private String attribute(String kind, int index, String unknown) {
    try {
      return read(
          sysfs
              .resolve("infiniband")
              .resolve(device.name())
              .resolve("ports/" + port.number() + "/gid_attrs")
              .resolve(kind)
              .resolve(String.valueOf(index)));
    } catch (IOException e) {
      return unknown;
    }
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file).strip();
  }

  private String name() {
    return "port " + port.number() + " of device " + device.name();
  }

  private static List<String> texts(List<Device.Gid> all) {
    List<String> texts = new ArrayList<>();
    all.forEach(gid -> texts.add(gid.text()));
    return texts;
  }
}
