/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import io.crail.common.NamenodeAddresses;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/** Keys of each type, for the tests of this package. */
public final class SampleKeys implements ConfigKeys {
  enum Colour {
    RED,
    GREEN
  }

  static final ConfigKey<Long> BLOCK_SIZE =
      ConfigKey.of("sample.blocksize", ConfigType.BYTES, "1m", "Bytes of a block.")
          .between(4096, 1L << 30);

  static final ConfigKey<Integer> CORES =
      ConfigKey.of("sample.cores", ConfigType.INT, "2", "Number of cores.").between(1, 64);

  static final ConfigKey<Boolean> DEBUG =
      ConfigKey.of("sample.debug", ConfigType.BOOLEAN, "false", "Whether to debug.");

  static final ConfigKey<Duration> TIMEOUT =
      ConfigKey.of(
              "sample.timeout",
              ConfigType.duration(DurationUnit.SECONDS),
              "10",
              "How long to wait.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(10));

  static final ConfigKey<List<String>> TYPES =
      ConfigKey.of("sample.types", ConfigType.LIST, "tcp", "Names.");

  static final ConfigKey<NamenodeAddresses> ADDRESSES =
      ConfigKey.of("sample.addresses", ConfigType.ADDRESSES, "crail://localhost:1", "Addresses.");

  static final ConfigKey<Colour> COLOUR =
      ConfigKey.of("sample.colour", ConfigType.oneOf(Colour.class), "red", "A colour.");

  static final ConfigKey<Long> SPIN =
      ConfigKey.of("sample.spin", ConfigType.MICROS_OR_ALWAYS, "50", "How long to ask.");

  static final ConfigKey<String> PATH =
      ConfigKey.of("sample.path", ConfigType.STRING, "", "A path.");

  static final ConfigKey<Secret> SECRET =
      ConfigKey.of("sample.secret", ConfigType.SECRET, "", "A word.")
          .check(word -> !word.isInFile() && word.read().equals("shut") ? "must be open" : null);

  static final ConfigKey<Integer> EVEN =
      ConfigKey.of("sample.even", ConfigType.INT, "2", "An even number.")
          .between(0, 100)
          .check(value -> value % 2 == 0 ? null : "must be even");

  @Override
  public String title() {
    return "Sample";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(
        BLOCK_SIZE, CORES, DEBUG, TIMEOUT, TYPES, ADDRESSES, COLOUR, SPIN, PATH, SECRET, EVEN);
  }
}
