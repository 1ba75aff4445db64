/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Network addresses as a user writes them. Stateless. */
public final class Addresses {
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("(\\[[^\\]]*\\]|[^\\[\\]:/]*)(?::([0-9]{1,5}))?");

  /** Docker makes names with an underscore. */
  private static final Pattern NAME =
      Pattern.compile("(?!-)[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*\\.?");

  private static final Pattern NUMBERS = Pattern.compile("(.*\\.)?[0-9]+\\.?");
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
  private static final Pattern IPV4 = Pattern.compile(OCTET + "(\\." + OCTET + "){3}");

  private Addresses() {}

  /**
   * Parses {@code host:port}. The host is a name or an address; an IPv6 address stands in brackets,
   * and may have a scope ({@code %eth0}).
   *
   * @param text the address as a user writes it
   * @param usualPort the port of an address without one; below 0 if each must have one
   * @return an unresolved address
   * @throws IllegalArgumentException when host or port is missing or cannot be
   */
  public static InetSocketAddress parse(String text, int usualPort) {
    Matcher matcher = HOST_AND_PORT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("must be host:port, with IPv6 hosts in brackets");
    }
    int port = matcher.group(2) == null ? usualPort : Integer.parseInt(matcher.group(2));
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("must have a port, from 0 to 65535");
    }
    return InetSocketAddress.createUnresolved(host(matcher.group(1)), port);
  }

  private static String host(String text) {
    if (text.startsWith("[")) {
      try {
        // Java has no other parser of IPv6 addresses that asks no network.
        new URI("crail://" + text + ":1").parseServerAuthority();
        return text.substring(1, text.length() - 1);
      } catch (URISyntaxException e) {
        throw new IllegalArgumentException("must have an IPv6 address in its brackets", e);
      }
    }
    boolean valid =
        NUMBERS.matcher(text).matches()
            ? IPV4.matcher(text).matches()
            : NAME.matcher(text).matches();
    if (!valid) {
      throw new IllegalArgumentException("must have the name of a host or an address");
    }
    return text;
  }

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
