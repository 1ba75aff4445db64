/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import java.util.HashMap;
import java.util.Map;

/** Other names for hosts, as {@code crail.locationmap} gives them. Immutable. */
public final class LocationMap {
  private final Map<String, String> names;

  private LocationMap(Map<String, String> names) {
    this.names = names;
  }

  /** True when {@link #parse} takes the text. */
  public static boolean isWellFormed(String text) {
    if (text.isEmpty()) {
      return true;
    }
    for (String pair : text.split("/", -1)) {
      String[] parts = pair.split(",", -1);
      if (parts.length != 2 || parts[0].isBlank() || parts[1].isBlank()) {
        return false;
      }
    }
    return true;
  }

  /** Parses well-formed text. */
  public static LocationMap parse(String text) {
    Map<String, String> names = new HashMap<>();
    if (!text.isEmpty()) {
      for (String pair : text.split("/", -1)) {
        int comma = pair.indexOf(',');
        names.put(pair.substring(0, comma).strip(), pair.substring(comma + 1).strip());
      }
    }
    return new LocationMap(Map.copyOf(names));
  }

  /** The name to report for a host. */
  String nameOf(String host) {
    return names.getOrDefault(host, host);
  }
}
