/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import io.crail.common.config.ConfigType.DurationUnit;
import java.time.Duration;
import java.util.List;

/** The keys of namenodes with standbys. */
public final class StandbyKeys implements ConfigKeys {
  /** Where peers talk to each other. */
  public static final ConfigKey<Integer> PORT_OFFSET =
      ConfigKey.of(
              "crail.namenode.peerport",
              ConfigType.INT,
              "1000",
              "Peers of a namenode agree with each other on the port in crail.namenode.address plus"
                  + " this.")
          .between(1, 60_000);

  /** How long a leader may be silent. */
  public static final ConfigKey<Duration> ELECTION =
      ConfigKey.of(
              "crail.namenode.election",
              ConfigType.duration(DurationUnit.MILLISECONDS),
              "500",
              "How long the peer that serves may be silent before the others elect another one; they"
                  + " wait up to twice as long, so that one of them is the first. Longer pauses of"
                  + " processes or hosts than this make another peer serve.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(1));

  @Override
  public String title() {
    return "Standby namenodes";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(PORT_OFFSET, ELECTION);
  }
}
