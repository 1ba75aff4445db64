/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Network addresses as a user writes them. Stateless. */
public final class Addresses {
  private Addresses() {}

  /** Host and port. The address follows a name that was resolved: {@code node1:9060 (10.0.0.1)}. */
  public static String text(InetSocketAddress address) {
    String text = text(address.getHostString(), address.getPort());
    InetAddress resolved = address.getAddress();
    if (resolved == null || resolved.getHostAddress().equals(address.getHostString())) {
      return text;
    }
    return text + " (" + resolved.getHostAddress() + ")";
  }

  /** Numeric address and port of a resolved address, as where a server listens. */
  public static String numeric(InetSocketAddress address) {
    return text(address.getAddress().getHostAddress(), address.getPort());
  }

  /** Host and port; an IPv6 address stands in brackets. */
  public static String text(String host, int port) {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
