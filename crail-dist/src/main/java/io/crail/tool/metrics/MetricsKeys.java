/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.metrics;

import io.crail.common.config.ConfigKey;
import io.crail.common.config.ConfigKeys;
import io.crail.common.config.ConfigType;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.IntStream;

/** The keys of what servers report about themselves. */
public final class MetricsKeys implements ConfigKeys {
  /** Where metrics, health and readiness are served. */
  public static final ConfigKey<String> ADDRESS =
      ConfigKey.of(
              "crail.metrics.address",
              ConfigType.STRING,
              "",
              "Where a namenode or datanode serves `/metrics`, `/health` and `/ready` over HTTP, and"
                  + " a namenode its web page: `host:port`, or `host:first-last` to take the first"
                  + " free port, for several servers on a host. Anybody who reaches it may read it. Empty: nowhere.")
          .check(MetricsKeys::refuse);

  private static String refuse(String text) {
    try {
      candidates(text);
      return null;
    } catch (IllegalArgumentException e) {
      return "must be host:port or host:first-last, with IPv6 hosts in brackets";
    }
  }

  /**
   * The addresses that a value names, in the order of trying; unresolved. None for an empty value.
   *
   * @throws IllegalArgumentException when it is malformed
   */
  public static List<InetSocketAddress> candidates(String text) {
    if (text.isEmpty()) {
      return List.of();
    }
    int dash = text.lastIndexOf('-');
    boolean isRange = dash > text.lastIndexOf(':');
    InetSocketAddress first = ConfigType.parseAddress(isRange ? text.substring(0, dash) : text);
    int last = isRange ? Integer.parseInt(text.substring(dash + 1)) : first.getPort();
    if (last < first.getPort() || last > 65535) {
      throw new IllegalArgumentException("ports to " + last);
    }
    return IntStream.rangeClosed(first.getPort(), last)
        .mapToObj(port -> InetSocketAddress.createUnresolved(first.getHostString(), port))
        .toList();
  }

  @Override
  public String title() {
    return "Metrics";
  }

  @Override
  public List<ConfigKey<?>> keys() {
    return List.of(ADDRESS);
  }
}
