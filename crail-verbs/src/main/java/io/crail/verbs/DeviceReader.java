/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Makes records from the numbers that the native library reads from a device. */
final class DeviceReader {
  private static final int GID_BYTES = 16;
  private static final int PORT_ACTIVE = 4;

  private DeviceReader() {}

  /** The number of ports of a device. */
  static int ports(long[] numbers) {
    return (int) numbers[12];
  }

  /** The length of the GID table of a port. */
  static int gidTableLength(long[] portNumbers) {
    return (int) portNumbers[5];
  }

  static Device device(String name, long[] numbers, List<Device.Port> ports) {
    return new Device(
        name,
        numbers[0],
        (int) numbers[1],
        (int) numbers[2],
        (int) numbers[3],
        (int) numbers[4],
        (int) numbers[5],
        (int) numbers[6],
        numbers[7],
        (int) numbers[8],
        (int) numbers[9],
        (int) numbers[10],
        (int) numbers[11],
        ports);
  }

  static Device.Port port(int port, long[] numbers, byte[] gidTable) {
    return new Device.Port(
        port,
        numbers[0] == PORT_ACTIVE,
        (int) numbers[0],
        (int) numbers[1],
        (int) numbers[2],
        numbers[3],
        linkLayer((int) numbers[4]),
        gids(gidTable));
  }

  private static Device.LinkLayer linkLayer(int number) {
    Device.LinkLayer[] all = Device.LinkLayer.values();
    return number > 0 && number < all.length ? all[number] : Device.LinkLayer.UNSPECIFIED;
  }

  static List<Device.Gid> gids(byte[] table) {
    List<Device.Gid> gids = new ArrayList<>();
    for (int at = 0; at + GID_BYTES <= table.length; at += GID_BYTES) {
      byte[] gid = Arrays.copyOfRange(table, at, at + GID_BYTES);
      if (!Arrays.equals(gid, new byte[GID_BYTES])) {
        gids.add(new Device.Gid(at / GID_BYTES, text(gid)));
      }
    }
    return gids;
  }

  private static String text(byte[] gid) {
    try {
      InetAddress address = InetAddress.getByAddress(gid);
      // Java turns an IPv4-mapped address into an IPv4 address.
      return gid.length == address.getAddress().length
          ? address.getHostAddress()
          : "::ffff:" + address.getHostAddress();
    } catch (UnknownHostException e) {
      throw new AssertionError("a GID of " + gid.length + " bytes", e);
    }
  }
}
