/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.verbs.Device;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A port, described as the kernel does. */
class PortCheckTest {
  private static final String IPV4 = "10.9.0.2";
  private static final String IPV6 = "fd00:9:0:0:0:0:0:2";

  @TempDir Path sysfs;

  private void write(String file, String text) throws IOException {
    Path path = sysfs.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text + "\n");
  }

  private void gid(int index, String type) throws IOException {
    write("infiniband/rxe7/ports/2/gid_attrs/types/" + index, type);
    write("infiniband/rxe7/ports/2/gid_attrs/ndevs/" + index, "eth7");
  }

  private PortCheck check(String address, Device.LinkLayer link, int activeMtu) throws IOException {
    return new PortCheck(sysfs, device(link, activeMtu), 2, InetAddress.getByName(address));
  }

  private static Device device(Device.LinkLayer link, int activeMtu) {
    Device.Port down = new Device.Port(1, false, 1, 256, 4096, 1L << 30, link, List.of());
    Device.Port port =
        new Device.Port(
            2,
            true,
            4,
            activeMtu,
            4096,
            1L << 30,
            link,
            List.of(
                new Device.Gid(0, "fe80:0:0:0:0:aff:fe09:2"),
                new Device.Gid(1, "::ffff:" + IPV4),
                new Device.Gid(2, "::ffff:" + IPV4),
                new Device.Gid(5, IPV6)));
    return new Device("rxe7", 1, 64, 64, 4, 16, 64, 64, 1 << 20, 1, 16, 16, 1, List.of(down, port));
  }

  @Test
  void theAddressIsAGidOfTheRightVersion() throws Exception {
    gid(1, "IB/RoCE v1");
    gid(2, "RoCE v2");
    gid(5, "RoCE v2");
    check(IPV4, Device.LinkLayer.ETHERNET, 4096).checkGid();
    check(IPV6, Device.LinkLayer.ETHERNET, 4096).checkGid();
  }

  @Test
  void anAddressWithoutAGidIsNamed() throws Exception {
    String text =
        assertThrows(
                RdmaException.class,
                () -> check("10.9.0.3", Device.LinkLayer.ETHERNET, 4096).checkGid())
            .getMessage();
    assertTrue(text.contains("port 2 of device rxe7 has no GID"), text);
    assertTrue(text.contains("10.9.0.3") && text.contains(IPV4), text);
  }

  @Test
  void aGidOfTheOtherVersionIsNamed() throws Exception {
    gid(1, "IB/RoCE v1");
    gid(2, "IB/RoCE v1");
    String text =
        assertThrows(
                RdmaException.class, () -> check(IPV4, Device.LinkLayer.ETHERNET, 4096).checkGid())
            .getMessage();
    assertTrue(text.contains("port 2 of device rxe7") && text.contains(IPV4), text);
    assertTrue(text.contains("only as IB/RoCE v1"), text);
  }

  @Test
  void otherNetworksHaveNoAddressesAsGids() throws Exception {
    PortCheck infiniband = check("10.9.0.3", Device.LinkLayer.INFINIBAND, 4096);
    assertDoesNotThrow(infiniband::checkGid);
    write("infiniband/rxe7/node_type", "4: RNIC");
    PortCheck iwarp = check("10.9.0.3", Device.LinkLayer.ETHERNET, 4096);
    assertDoesNotThrow(iwarp::checkGid);
  }

  @Test
  void packetsThatAreSmallBesideTheInterfacesAreNamed() throws Exception {
    gid(1, "RoCE v2");
    write("net/eth7/mtu", "4500");
    assertEquals("", check(IPV4, Device.LinkLayer.ETHERNET, 4096).mtuWarning());
    String warning = check(IPV4, Device.LinkLayer.ETHERNET, 1024).mtuWarning();
    assertTrue(warning.contains("port 2 of device rxe7 sends packets of 1024 bytes"), warning);
    assertTrue(warning.contains("eth7 has room for 4096"), warning);
    write("net/eth7/mtu", "1500");
    assertEquals("", check(IPV4, Device.LinkLayer.ETHERNET, 1024).mtuWarning());
    write("net/eth7/mtu", "500");
    warning = check(IPV4, Device.LinkLayer.ETHERNET, 256).mtuWarning();
    assertTrue(warning.contains("256 bytes, the fewest there are"), warning);
  }
}
