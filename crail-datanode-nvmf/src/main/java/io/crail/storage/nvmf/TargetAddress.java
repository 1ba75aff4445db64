/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.nvmf;

import io.crail.common.Addresses;
import io.crail.common.config.ConfigException;
import io.crail.nvmf.Nqn;
import io.crail.nvmf.NvmeTransport;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A subsystem of a target, as a user writes it: {@code host:port/nqn}, with the numbers of the
 * namespaces to use after a {@code #}, as in {@code 10.0.0.1:4420/nqn.2026-11.org.example:a#1+2}.
 * Without numbers all are used. Before it may stand {@code tcp://} or {@code rdma://}; without that
 * the target is reached over TCP. The name of a discovery service stands for all subsystems that
 * the service knows; see {@link TargetDiscovery}.
 *
 * @param transport the kind of network
 * @param address where the target listens, unresolved
 * @param nqn the subsystem's name
 * @param namespaces the numbers of namespaces; empty for all
 */
record TargetAddress(
    NvmeTransport transport, InetSocketAddress address, String nqn, List<Integer> namespaces) {
  static final int STANDARD_PORT = 4420;
  static final int DISCOVERY_PORT = 8009;

  private static final String FORM =
      "must be host:port/nqn, or host:port/nqn#1+2 with the numbers of namespaces, after tcp:// or"
          + " rdma://";

  private static final String TRANSPORT_END = "://";

  /**
   * Reads one.
   *
   * @throws ConfigException that names the text and says what is wrong with it
   */
  static TargetAddress parse(String text) {
    NvmeTransport transport = NvmeTransport.TCP;
    int start = 0;
    // The name may have slashes too, and all that a transport ends with.
    int transportEnd = text.indexOf('/') - 1;
    if (transportEnd >= 0 && text.startsWith(TRANSPORT_END, transportEnd)) {
      transport = transport(text, text.substring(0, transportEnd));
      start = transportEnd + TRANSPORT_END.length();
    }
    int slash = text.indexOf('/', start);
    int hash = text.indexOf('#', slash + 1);
    if (slash < start + 1) {
      throw bad(text, FORM);
    }
    String nqn = text.substring(slash + 1, hash < 0 ? text.length() : hash);
    String problem = Nqn.problem(nqn);
    if (problem != null) {
      throw bad(text, "the name of the subsystem " + problem);
    }
    boolean discovery = nqn.equals(Nqn.DISCOVERY);
    if (discovery && hash >= 0) {
      throw bad(text, "a discovery service has no namespaces");
    }
    List<Integer> namespaces = new ArrayList<>();
    if (hash >= 0) {
      for (String number : text.substring(hash + 1).split("\\+", -1)) {
        int value = number(number);
        if (value < 1 || namespaces.contains(value)) {
          throw bad(text, "'" + number + "' is no number of a namespace, or is there twice");
        }
        namespaces.add(value);
      }
    }
    int usualPort = discovery ? DISCOVERY_PORT : STANDARD_PORT;
    InetSocketAddress address = address(text, text.substring(start, slash), usualPort);
    return new TargetAddress(transport, address, nqn, namespaces);
  }

  private static NvmeTransport transport(String text, String name) {
    for (NvmeTransport each : NvmeTransport.values()) {
      if (each.toString().equals(name)) {
        return each;
      }
    }
    throw bad(text, FORM);
  }

  private static InetSocketAddress address(String text, String part, int usualPort) {
    try {
      InetSocketAddress address = Addresses.parse(part, usualPort);
      if (address.getPort() > 0) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      if (part.indexOf(':') != part.lastIndexOf(':') && !part.startsWith("[")) {
        throw bad(text, "an IPv6 address stands in brackets");
      }
    }
    throw bad(text, FORM);
  }

  private static int number(String digits) {
    return digits.matches("[0-9]{1,9}") ? Integer.parseInt(digits) : -1;
  }

  private static ConfigException bad(String text, String why) {
    return new ConfigException("target '" + text + "': " + why);
  }

  /** Reads several, separated by spaces. */
  static List<TargetAddress> parseAll(String text) {
    return Arrays.stream(text.split(" ")).map(TargetAddress::parse).toList();
  }

  /** Whether this is no subsystem with namespaces, but knows some. */
  boolean isDiscovery() {
    return nqn.equals(Nqn.DISCOVERY);
  }

  /** As a user writes it. */
  @Override
  public String toString() {
    String numbers =
        namespaces.stream().map(String::valueOf).collect(Collectors.joining("+", "#", ""));
    return (transport == NvmeTransport.TCP ? "" : transport + TRANSPORT_END)
        + Addresses.text(address.getHostString(), address.getPort())
        + "/"
        + nqn
        + (namespaces.isEmpty() ? "" : numbers);
  }
}
