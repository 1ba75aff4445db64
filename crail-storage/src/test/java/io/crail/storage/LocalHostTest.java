/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalHostTest {
  private static final List<InetSocketAddress> LOCAL =
      List.of(InetSocketAddress.createUnresolved("127.0.0.1", 9060));

  @Test
  void thereIsAlwaysAName() {
    assertFalse(LocalHost.hostName().isEmpty());
  }

  @Test
  void namenodesOnLoopbackMakeADatanodeOnLoopback() throws IOException {
    assertTrue(LocalHost.address(LocalHost.AUTO, LOCAL).isLoopbackAddress());
  }

  @Test
  void anAddressAnInterfaceAndANameAreTaken() throws IOException {
    assertEquals("127.0.0.1", LocalHost.address("127.0.0.1", LOCAL).getHostAddress());
    assertTrue(LocalHost.address("localhost", LOCAL).isLoopbackAddress());
    NetworkInterface loopback =
        NetworkInterface.networkInterfaces()
            .filter(candidate -> candidate.inetAddresses().anyMatch(a -> a.isLoopbackAddress()))
            .findFirst()
            .orElseThrow();
    assertTrue(LocalHost.address(loopback.getName(), LOCAL).isLoopbackAddress());
  }

  @Test
  void addressesOfOtherHostsAreNamedAndRefused() {
    // An address for documentation, which no host has.
    IOException refusal =
        assertThrows(IOException.class, () -> LocalHost.address("192.0.2.1", LOCAL));
    assertTrue(refusal.getMessage().contains("'192.0.2.1'"), refusal.getMessage());
  }

  @Test
  void namesAnUnknownNamenode() {
    // Longer than a name may be, so that no server is asked, which might be slow or make one up.
    String nobody = "x".repeat(64) + ".invalid";
    List<InetSocketAddress> unknown = List.of(InetSocketAddress.createUnresolved(nobody, 9060));
    IOException refusal =
        assertThrows(IOException.class, () -> LocalHost.address(LocalHost.AUTO, unknown));
    assertTrue(refusal.getMessage().contains(nobody), refusal.getMessage());
  }
}
