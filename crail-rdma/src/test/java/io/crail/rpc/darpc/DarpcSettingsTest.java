/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.rpc.TransportProvider;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.verbs.Availability;
import io.crail.verbs.Device;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that values without sense are refused, with the name of their key. */
class DarpcSettingsTest {
  private static Device device(String name, int requests, int completions) {
    return new Device(
        name, 1, 100, requests, 4, 100, completions, 100, 1 << 30, 10, 1, 1, 1, List.of());
  }

  private static String refusal(ConfigKey<?> key, String value) {
    return assertThrows(
            ConfigException.class,
            () ->
                DarpcSettings.of(Configuration.builder().set(key, value).build())
                    .check(List.of(device("small0", 100, 1000), device("big0", 16384, 32767))))
        .getMessage();
  }

  @Test
  void namesKeyValueAndDevice() {
    for (ConfigKey<?> key : List.of(DarpcKeys.RECEIVES, DarpcKeys.SENDS)) {
      String text = refusal(key, "20000");
      assertTrue(text.contains(key.name()), text);
      assertTrue(text.contains("20000") && text.contains("big0") && text.contains("16384"), text);
    }
    String text = refusal(DarpcKeys.CLUSTER_SIZE, "512");
    assertTrue(text.contains(DarpcKeys.CLUSTER_SIZE.name()) && text.contains("511"), text);
  }

  @Test
  void namesWhatIsBelowTheLeast() {
    for (Object[] bad :
        new Object[][] {
          {DarpcKeys.MESSAGE_SIZE, "63"},
          {DarpcKeys.MESSAGE_SIZE, "1m"},
          {DarpcKeys.RECEIVES, "3"},
          {DarpcKeys.SENDS, "0"},
          {DarpcKeys.AFFINITY, "0,x"},
          {DarpcKeys.AFFINITY, "-1"},
          {WaitKeys.SPIN_TIME, "never"},
          {WaitKeys.CLIENT_DRIVER, "active"},
          {DarpcKeys.POLL_SIZE, "0"},
          {DarpcKeys.CONNECT_TIMEOUT, "9ms"},
          {RdmaKeys.RETRIES, "7"},
          {RdmaKeys.RETRIES, "-1"},
          {DarpcKeys.KEEP_ALIVE, "1ms"},
        }) {
      String text =
          assertThrows(
                  ConfigException.class,
                  () ->
                      DarpcSettings.of(
                          Configuration.builder().set((ConfigKey<?>) bad[0], bad[1]).build()))
              .getMessage();
      assertTrue(text.contains(bad[0].toString()), text);
    }
  }

  @Test
  void takesWhatFilesForApacheCrailSay() {
    Configuration values =
        Configuration.builder()
            .set("crail.namenode.rpctype", "darpc", "test")
            .set("crail.namenode.darpc.polling", "true", "test")
            .set("crail.namenode.darpc.type", "passive", "test")
            .set("crail.namenode.darpc.affinity", "1", "test")
            .set("crail.namenode.darpc.maxinline", "0", "test")
            .set("crail.namenode.darpc.recvQueue", "40", "test")
            .set("crail.namenode.darpc.sendQueue", "50", "test")
            .set("crail.namenode.darpc.pollsize", "16", "test")
            .set("crail.namenode.darpc.clustersize", "128", "test")
            .set("crail.namenode.darpc.backlog", "100", "test")
            .set("crail.namenode.darpc.connecttimeout", "1000", "test")
            .build();
    DarpcSettings settings = DarpcSettings.of(values);
    assertEquals(Long.MAX_VALUE, settings.rdma().spinNanos());
    assertEquals(40, settings.receives());
    assertEquals(50, settings.sends());
    assertEquals(16, settings.pollSize());
    assertEquals(1_000_000_000L, settings.peerOptions().connectTimeoutNanos());
    assertEquals(WaitKeys.Driver.WAITER, values.get(WaitKeys.CLIENT_DRIVER));
  }

  @Test
  void refusesToRepeatWithoutEnd() {
    String text =
        assertThrows(
                ConfigException.class,
                () -> Configuration.builder().set(RdmaKeys.RETRIES, 7).build())
            .getMessage();
    assertTrue(text.contains("without end") && text.contains("between 0 and 6"), text);
  }

  @Test
  void aProcessorIsABitOfTheWordThatHasIt() {
    assertArrayEquals(new long[] {1}, PollingThread.maskOf(0));
    assertArrayEquals(new long[] {Long.MIN_VALUE}, PollingThread.maskOf(63));
    assertArrayEquals(new long[] {0, 1}, PollingThread.maskOf(64));
    assertArrayEquals(new long[] {0, 0, 0, 1L << 8}, PollingThread.maskOf(200));
  }

  @Test
  void takesProcessorsBeyondTheFirst64() {
    Configuration values = Configuration.builder().set(DarpcKeys.AFFINITY, "0, 64,127").build();
    assertEquals(List.of(0, 64, 127), DarpcSettings.of(values).processors());
  }

  @Test
  void threadsArePinnedByDefault() {
    DarpcSettings usual = DarpcSettings.of(Configuration.defaults());
    assertTrue(usual.pinned());
    assertEquals(List.of(), usual.processors());
    Configuration none = Configuration.builder().set(DarpcKeys.AFFINITY, "none").build();
    assertFalse(DarpcSettings.of(none).pinned());
    assertEquals(List.of(), DarpcSettings.of(none).processors());
  }

  @Test
  void serversOfOneHostBeginWithDifferentProcessors() {
    long[] mask = {0b1011, 1};
    assertEquals(List.of(0, 1, 3, 64), DarpcServer.processors(mask, 8, 0));
    assertEquals(List.of(1, 3, 64, 0), DarpcServer.processors(mask, 4, 9061));
    assertEquals(List.of(3, 64), DarpcServer.processors(mask, 2, 9062));
  }

  @Test
  void aLimitOfLockedMemoryBelowAllConnectionsIsWorthAWarning() {
    DarpcSettings settings =
        DarpcSettings.of(
            Configuration.builder()
                .set(DarpcKeys.RECEIVES, 16)
                .set(DarpcKeys.SENDS, 32)
                .set(DarpcKeys.MESSAGE_SIZE, "4k")
                .set(DarpcKeys.CLUSTER_SIZE, 100)
                .build());
    // 64 KiB and a little to receive, and a chunk to send; each may share a page at both ends.
    long connection = (18 + SendChunk.CAPACITY / 4096 + 1) * 4096;
    assertEquals(connection, settings.connectionBytes());
    assertEquals("", settings.memoryWarning(Long.MAX_VALUE, 64));
    assertEquals("", settings.memoryWarning(300 * connection, 3));
    String warning = settings.memoryWarning(300 * connection - 1, 3);
    for (Object part :
        List.of(
            300 * connection - 1,
            "enough for 299 connections with " + connection,
            DarpcKeys.CLUSTER_SIZE.name() + "' allows 300",
            "raise the limit to " + 300 * connection,
            "ulimit -l")) {
      assertTrue(warning.contains(part.toString()), warning);
    }
  }

  @Test
  void saysWhatIsMissingForRdma() {
    assumeFalse(Availability.check().usable(), "nothing is missing here");
    Configuration values = Configuration.builder().set(TransportProvider.RPC_TYPE, "darpc").build();
    String text =
        assertThrows(ConfigException.class, () -> TransportProvider.open(values)).getMessage();
    assertTrue(text.contains(TransportProvider.RPC_TYPE.name()), text);
    assertTrue(text.contains(Availability.check().problem()), text);
  }
}
