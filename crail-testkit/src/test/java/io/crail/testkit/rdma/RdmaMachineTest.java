/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** That the machine has what all other tests on RDMA take for granted: two hosts' devices. */
@Tag("rdma")
class RdmaMachineTest {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");
  private static final Map<String, String> LINK_OF_ADDRESS =
      Map.of("10.9.0.1", "rv0", "fd00:9::1", "rv0", "10.9.0.2", "rv1", "fd00:9::2", "rv1");

  @ParameterizedTest
  @TwoHosts
  @ValueSource(strings = {"rxe0", "rxe1"})
  void deviceIsActive(String device) throws IOException {
    assertEquals("4: ACTIVE", Files.readString(DEVICES.resolve(device + "/ports/1/state")).strip());
  }

  @ParameterizedTest
  @TwoHosts
  @ValueSource(strings = {"rxe0", "rxe1"})
  void deviceAnswersToBothKindsOfAddresses(String device) throws IOException {
    char host = device.charAt(3) == '0' ? '1' : '2';
    Path gids = DEVICES.resolve(device + "/ports/1/gids");
    String all = Files.readString(gids.resolve("1")) + Files.readString(gids.resolve("2"));
    assertTrue(all.contains("0000:0000:0000:0000:0000:ffff:0a09:000" + host), all);
    assertTrue(all.contains("fd00:0009:0000:0000:0000:0000:0000:000" + host), all);
  }

  @ParameterizedTest
  @TwoHosts
  @ValueSource(strings = {"10.9.0.1", "10.9.0.2", "fd00:9::1", "fd00:9::2"})
  void addressIsOnItsEndOfTheCable(String address) throws IOException {
    NetworkInterface link = NetworkInterface.getByInetAddress(InetAddress.getByName(address));
    assertEquals(LINK_OF_ADDRESS.get(address), link == null ? null : link.getName());
  }

  /** With its link down, or its route lost, a host must not reach the other one by a short cut. */
  @ParameterizedTest
  @TwoHosts
  @ValueSource(ints = {0, 1})
  void withoutTheCableThereIsNoOtherWay(int host) throws IOException {
    String routes = RdmaHost.routes(host);
    assertTrue(routes.contains("unreachable 10.9.0." + (2 - host)), routes);
    assertTrue(routes.contains("unreachable fd00:9::" + (2 - host)), routes);
  }

  /** Whatever the tests before have left in the devices, others' programs work. */
  @ParameterizedTest
  @ValueSource(strings = {"ibv_rc_pingpong", "ibv_srq_pingpong", "ibv_ud_pingpong"})
  void messagesOfOthersPass(String program) throws Exception {
    double micros = OtherPrograms.pingPong(program);
    assertTrue(micros > 0, program + " says " + micros);
  }
}
