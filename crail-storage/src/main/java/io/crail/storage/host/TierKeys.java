/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.host;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import io.crail.protocol.part.Extent;
import io.crail.storage.LocalHost;
import java.time.Duration;

/**
 * The keys that each tier of memory behind a network has, under its own name. What they accept is
 * written once. A tier adds its own part to a key's sentence.
 */
public final class TierKeys {
  private TierKeys() {}

  private static String name(String tier, String key) {
    return "crail.storage." + tier + "." + key;
  }

  /** Where to serve: {@code crail.storage.<tier>.interface}. */
  public static ConfigKey<String> networkInterface(String tier, String sentence) {
    return ConfigKey.of(name(tier, "interface"), ConfigType.STRING, LocalHost.AUTO, sentence)
        .check(value -> value.isEmpty() ? "must not be empty" : null);
  }

  /** The port: {@code crail.storage.<tier>.port}. */
  public static ConfigKey<Integer> port(String tier, int standard) {
    return ConfigKey.of(
            name(tier, "port"),
            ConfigType.INT,
            Integer.toString(standard),
            "Port that a datanode serves on; 0 takes any free one.")
        .between(0, 65535);
  }

  /** What a datanode lends: {@code crail.storage.<tier>.storagelimit}. */
  public static ConfigKey<Long> storageLimit(String tier, String sentence) {
    return storageLimit(tier, "1g", sentence);
  }

  /** The same, for a tier that lends another amount by default. */
  public static ConfigKey<Long> storageLimit(String tier, String standard, String sentence) {
    return ConfigKey.of(name(tier, "storagelimit"), ConfigType.BYTES, standard, sentence)
        .between(Extent.MIN_LENGTH, 1L << 50);
  }

  /** The size of a region: {@code crail.storage.<tier>.allocationsize}. */
  public static ConfigKey<Long> allocationSize(String tier, String sentence) {
    return ConfigKey.of(name(tier, "allocationsize"), ConfigType.BYTES, "256m", sentence)
        .between(Extent.MIN_LENGTH, 1 << 30);
  }

  /** The parent of a datanode's directory: {@code crail.storage.<tier>.datapath}. */
  public static ConfigKey<String> dataPath(String tier, String sentence) {
    return ConfigKey.of(name(tier, "datapath"), ConfigType.STRING, "", sentence);
  }

  /** The most transfers in flight: {@code crail.storage.<tier>.queuedepth}. */
  public static ConfigKey<Integer> queueDepth(String tier) {
    return ConfigKey.of(
            name(tier, "queuedepth"),
            ConfigType.INT,
            "32",
            "Transfers that a client keeps in flight on its connection to one datanode; more wait"
                + " in the client.")
        .between(1, 4096);
  }

  /** The deadline of a connection attempt: {@code crail.storage.<tier>.connecttimeout}. */
  public static ConfigKey<Duration> connectTimeout(String tier, String sentence) {
    return ConfigKey.of(
            name(tier, "connecttimeout"),
            ConfigType.duration(DurationUnit.MILLISECONDS),
            "2s",
            sentence)
        .between(Duration.ofMillis(1), Duration.ofMinutes(10));
  }
}
