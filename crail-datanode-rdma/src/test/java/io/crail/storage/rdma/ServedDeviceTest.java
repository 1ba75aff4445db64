/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.verbs.Device;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServedDeviceTest {
  private static final long LARGEST_REGION = 1L << 30;
  private static final int REGIONS = 8;
  private static final int CONNECTIONS = 100;
  private static final int ENTRIES = CONNECTIONS * ServedDevice.QUEUE_LENGTH;

  @Test
  void aDeviceWithJustEnoughServes() throws IOException {
    assertEquals(
        "", check(device(CONNECTIONS, ENTRIES, REGIONS, LARGEST_REGION, port(true, 4096))));
    // One port that is up is enough.
    assertEquals(
        "",
        check(
            device(
                CONNECTIONS,
                ENTRIES,
                REGIONS,
                LARGEST_REGION,
                port(false, 256),
                port(true, 4096))));
  }

  @Test
  void aSmallMtuIsWorthAWarning() throws IOException {
    String warning = check(device(CONNECTIONS, ENTRIES, REGIONS, LARGEST_REGION, port(true, 1024)));
    assertTrue(warning.contains("rxe7"), warning);
    assertTrue(warning.contains("1024 bytes and could send 4096"), warning);
  }

  @Test
  void aDeviceWithNoPortUpIsRefused() {
    refuses(
        device(CONNECTIONS, ENTRIES, REGIONS, LARGEST_REGION, port(false, 4096)),
        "no port of device rxe7 is up");
    refuses(device(CONNECTIONS, ENTRIES, REGIONS, LARGEST_REGION), "no port of device rxe7 is up");
  }

  @Test
  void eachLimitOfTheDeviceNamesTheKeyThatGoesBeyond() {
    refuses(
        device(CONNECTIONS, ENTRIES, REGIONS, LARGEST_REGION - 1, port(true, 4096)),
        "'" + RdmaStorageKeys.ALLOCATION_SIZE.name() + "' is " + LARGEST_REGION,
        "at most " + (LARGEST_REGION - 1));
    refuses(
        device(CONNECTIONS, ENTRIES, REGIONS - 1, LARGEST_REGION, port(true, 4096)),
        "device rxe7 registers at most " + (REGIONS - 1) + " regions, but these are " + REGIONS,
        "'" + RdmaStorageKeys.ALLOCATION_SIZE.name() + "'");
    String limit = "'" + RdmaStorageKeys.CONNECTION_LIMIT.name() + "' is " + CONNECTIONS;
    refuses(
        device(CONNECTIONS - 1, ENTRIES, REGIONS, LARGEST_REGION, port(true, 4096)),
        limit,
        "at most " + (CONNECTIONS - 1));
    refuses(
        device(CONNECTIONS, ENTRIES - 1, REGIONS, LARGEST_REGION, port(true, 4096)),
        limit,
        "at most " + (CONNECTIONS - 1));
  }

  private static String check(Device device) throws IOException {
    return ServedDevice.check(device, LARGEST_REGION, REGIONS, CONNECTIONS);
  }

  private static void refuses(Device device, String... parts) {
    String message = assertThrows(IOException.class, () -> check(device)).getMessage();
    for (String part : parts) {
      assertTrue(message.contains(part), message);
    }
  }

  private static Device device(
      int queuePairs, int entries, int regions, long regionBytes, Device.Port... ports) {
    return new Device(
        "rxe7",
        1,
        queuePairs,
        64,
        4,
        16,
        entries,
        regions,
        regionBytes,
        1,
        16,
        16,
        1,
        List.of(ports));
  }

  private static Device.Port port(boolean active, int mtuBytes) {
    return new Device.Port(
        1,
        active,
        active ? 4 : 1,
        mtuBytes,
        4096,
        1L << 30,
        Device.LinkLayer.ETHERNET,
        List.of(new Device.Gid(0, "::ffff:10.9.0.1")));
  }
}
