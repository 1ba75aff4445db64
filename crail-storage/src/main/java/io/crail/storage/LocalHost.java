/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.List;

/** The name of this host, and the address at which other hosts reach it. Stateless. */
public final class LocalHost {
  /** Value of an interface key for which {@link #address} chooses. */
  public static final String AUTO = "auto";

  private LocalHost() {}

  /** The name of this host; never fails. */
  public static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      // The host cannot resolve its own name. The message of the exception begins with that name.
      String fromEnvironment = System.getenv("HOSTNAME");
      return fromEnvironment == null || fromEnvironment.isEmpty() ? "localhost" : fromEnvironment;
    }
  }

  /**
   * The address to serve on.
   *
   * @param wanted an interface's name, a host name or address of this host, or {@link #AUTO}: the
   *     address from which the first namenode is reached, which is loopback when the namenodes are
   * @throws IOException that names what could not be found
   */
  public static InetAddress address(String wanted, List<InetSocketAddress> namenodes)
      throws IOException {
    if (!wanted.equals(AUTO)) {
      NetworkInterface networkInterface = NetworkInterface.getByName(wanted);
      return networkInterface != null ? addressOf(networkInterface) : addressOfThisHost(wanted);
    }
    for (InetSocketAddress namenode : namenodes) {
      InetAddress resolved = resolve(namenode);
      if (!resolved.isLoopbackAddress()) {
        return sourceFor(new InetSocketAddress(resolved, Math.max(1, namenode.getPort())));
      }
    }
    return resolve(namenodes.get(0));
  }

  private static InetAddress resolve(InetSocketAddress namenode) throws IOException {
    try {
      return InetAddress.getByName(namenode.getHostString());
    } catch (UnknownHostException e) {
      throw new IOException("the namenode's host '" + namenode.getHostString() + "' is unknown", e);
    }
  }

  private static InetAddress addressOf(NetworkInterface networkInterface) throws IOException {
    List<InetAddress> addresses = Collections.list(networkInterface.getInetAddresses());
    if (addresses.isEmpty()) {
      throw new IOException("interface " + networkInterface.getName() + " has no address");
    }
    // A link-local address needs a scope that means nothing elsewhere; IPv4 before IPv6.
    return addresses.stream()
        .min(
            (a, b) ->
                a.isLinkLocalAddress() != b.isLinkLocalAddress()
                    ? Boolean.compare(a.isLinkLocalAddress(), b.isLinkLocalAddress())
                    : Integer.compare(a.getAddress().length, b.getAddress().length))
        .orElseThrow();
  }

  private static InetAddress addressOfThisHost(String name) throws IOException {
    InetAddress address;
    try {
      address = InetAddress.getByName(name);
    } catch (UnknownHostException e) {
      throw new IOException("'" + name + "' is no interface, host or address of this host", e);
    }
    if (!address.isAnyLocalAddress()
        && !address.isLoopbackAddress()
        && NetworkInterface.getByInetAddress(address) == null) {
      throw new IOException("'" + name + "' is not an address of this host");
    }
    return address;
  }

  /** The local address of a route; connecting a datagram socket sends nothing. */
  private static InetAddress sourceFor(InetSocketAddress remote) throws IOException {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(remote);
      return socket.getLocalAddress();
    }
  }
}
