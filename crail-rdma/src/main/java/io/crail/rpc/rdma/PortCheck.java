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

/** Whether the port behind an address suits connections, by what the kernel tells of it. */
final class PortCheck {
  private static final Path SYSFS = Path.of("/sys/class");

  /** What goes around the payload of a packet of RoCE v2, at most. */
  private static final int OVERHEAD = 80;

  private static final int LEAST_MTU = 256;
  private static final String ROCE_V2 = "RoCE v2";

  private final Path sysfs;
  private final Device device;
  private final Device.Port port;
  private final String address;
  private final List<Device.Gid> gids;

  /**
   * Looks at a port.
   *
   * @param sysfs in place of /sys/class
   * @param number of the port, counted from 1
   */
  PortCheck(Path sysfs, Device device, int number, InetAddress address) {
    this.sysfs = sysfs;
    this.device = device;
    this.port = device.ports().get(number - 1);
    // Without the interface of a link-local address.
    this.address = address.getHostAddress().replaceFirst("%.*", "");
    String gid = address.getAddress().length == 4 ? "::ffff:" + this.address : this.address;
    this.gids = port.gids().stream().filter(each -> each.text().equals(gid)).toList();
  }

  PortCheck(Device device, int number, InetAddress address) {
    this(SYSFS, device, number, address);
  }

  /**
   * Checks that the address is one of the port's GIDs, of the version of RoCE that is routed; on
   * other networks than RoCE GIDs are no addresses.
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

  /** What is wrong with the size of packets; nothing when it suits the network's interface. */
  String mtuWarning() {
    int possible = possibleMtu();
    String what = name() + " sends packets of " + port.activeMtuBytes() + " bytes";
    if (port.activeMtuBytes() < possible) {
      return what
          + ", but its network interface "
          + networkInterface()
          + " has room for "
          + possible
          + "; see that the device is told of the interface's MTU";
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
      // No interface, as on InfiniBand, or one of another name space.
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
