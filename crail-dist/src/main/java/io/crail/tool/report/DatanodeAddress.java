/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.Addresses;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The address of a datanode as a user gives it: by a host's name or by any spelling of its IP
 * address.
 *
 * @param host name or address, without brackets
 * @param port port
 */
public record DatanodeAddress(String host, int port) {
  private static final int MOST_NAMED = 3;

  /** Removes brackets. */
  public DatanodeAddress {
    host = host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /**
   * Parses {@code host:port}; an IPv6 address may stand in brackets.
   *
   * @throws IllegalArgumentException that says what is allowed
   */
  public static DatanodeAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    // Colons before it are those of an IPv6 address.
    boolean bare =
        text.indexOf(':') < colon && text.charAt(0) != '[' && text.charAt(colon - 1) != ':';
    try {
      InetSocketAddress address =
          Addresses.parse(
              bare ? "[" + text.substring(0, colon) + "]" + text.substring(colon) : text, -1);
      if (address.getPort() > 0) {
        return new DatanodeAddress(address.getHostString(), address.getPort());
      }
    } catch (IllegalArgumentException e) {
      // Falls through to the one message below.
    }
    throw new IllegalArgumentException("must be host:port, such as 10.0.0.7:50020 or [::1]:50020");
  }

  /** The datanode at this address. */
  public Optional<DatanodeReport> among(List<DatanodeReport> datanodes) {
    List<DatanodeReport> there = datanodes.stream().filter(each -> each.port() == port).toList();
    Optional<DatanodeReport> same =
        there.stream().filter(each -> each.host().equalsIgnoreCase(host)).findFirst();
    if (same.isPresent() || there.isEmpty()) {
      return same;
    }
    Set<InetAddress> wanted = resolve(host);
    boolean loopback = wanted.stream().anyMatch(InetAddress::isLoopbackAddress);
    return there.stream()
        .filter(
            each -> {
              Set<InetAddress> its = resolve(each.host());
              return !Collections.disjoint(its, wanted)
                  || (loopback
                      && host.equalsIgnoreCase("localhost")
                      && its.stream().anyMatch(InetAddress::isLoopbackAddress));
            })
        .findFirst();
  }

  /** Names the datanodes with this port, for a message that ends elsewhere; empty without any. */
  String near(List<DatanodeReport> datanodes) {
    List<String> there =
        datanodes.stream()
            .filter(each -> each.port() == port)
            .map(DatanodeReport::address)
            .limit(MOST_NAMED)
            .toList();
    return there.isEmpty() ? "" : "with this port there is " + String.join(", ", there) + "; ";
  }

  /** The addresses of a host; none if it has no known name. */
  private static Set<InetAddress> resolve(String host) {
    try {
      return new HashSet<>(Arrays.asList(InetAddress.getAllByName(host)));
    } catch (UnknownHostException e) {
      return Set.of();
    }
  }

  @Override
  public String toString() {
    return Addresses.text(host, port);
  }
}
