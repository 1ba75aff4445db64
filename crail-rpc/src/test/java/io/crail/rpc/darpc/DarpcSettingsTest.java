/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.crail.common.config.ConfigException;
import io.crail.common.config.ConfigKey;
import io.crail.common.config.Configuration;
import io.crail.rpc.TransportProvider;
import io.crail.verbs.Device;
import io.crail.verbs.Verbs;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Values that make no sense are refused by name. */
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
          {DarpcKeys.POLLING, "true"},
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
  void takesProcessorsBeyondTheFirst64() {
    Configuration values = Configuration.builder().set(DarpcKeys.AFFINITY, "0, 64,127").build();
    assertEquals(List.of(0, 64, 127), DarpcSettings.of(values).processors());
  }

  @Test
  void saysWhatIsMissingForRdma() {
    assumeFalse(Verbs.check().usable(), "nothing is missing here");
    Configuration values = Configuration.builder().set(TransportProvider.RPC_TYPE, "darpc").build();
    String text =
        assertThrows(ConfigException.class, () -> TransportProvider.open(values)).getMessage();
    assertTrue(text.contains(TransportProvider.RPC_TYPE.name()), text);
    assertTrue(text.contains(Verbs.check().problem()), text);
  }
}
