/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.page;

import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * Refuses requests whose header {@code Host} names a host that is not this one. A web site can give
 * its own name the address of a namenode; the browser then takes the namenode's answers for the
 * site's own, and lets the site read them. In such a request the header has the site's name.
 * Immutable.
 */
final class HostGuard {
  private final Set<String> names = new TreeSet<>();

  /**
   * Creates a guard.
   *
   * @param names what this host, or another namenode, is called; beside them, addresses in numbers
   *     and {@code localhost} are accepted
   */
  HostGuard(Collection<String> names) {
    names.forEach(name -> this.names.add(plain(name)));
    this.names.add("localhost");
    this.names.remove("");
  }

  /** Whether a request with this header is answered. */
  boolean accepts(String header) {
    if (header.startsWith("[")) {
      return header.matches("\\[[0-9a-fA-F:.]+](:[0-9]*)?");
    }
    String host = plain(header.replaceFirst(":[0-9]*$", ""));
    // No top-level domain consists of digits.
    return host.matches("[0-9]+(\\.[0-9]+){3}") || names.contains(host);
  }

  private static String plain(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }
}
