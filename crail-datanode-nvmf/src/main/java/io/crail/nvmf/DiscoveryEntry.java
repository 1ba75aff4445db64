/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.Addresses;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * An entry in the log of a discovery service: where a subsystem is reached. {@link #LENGTH} bytes,
 * little-endian:
 *
 * <pre>
 *   0 transport   1 family of the address   2 kind   3 bits 0 and 1: 1 if a secure channel is needed
 *  32 service, 32 characters    256 name of the subsystem, 256    512 address, 256
 * </pre>
 *
 * @param transport the kind of network
 * @param address where the target listens
 * @param nqn the subsystem's name
 */
public record DiscoveryEntry(NvmeTransport transport, InetSocketAddress address, String nqn) {
  /** Bytes of an entry. */
  public static final int LENGTH = 1024;

  private static final int TRANSPORT_RDMA = 1;
  private static final int TRANSPORT_TCP = 3;
  private static final int FAMILY_IPV4 = 1;
  private static final int FAMILY_IPV6 = 2;
  private static final int KIND_NVM = 2;
  private static final int SECURE_CHANNEL = 3;
  private static final int SECURE_CHANNEL_NEEDED = 1;
  private static final String PART = "([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
  private static final String IPV4 = PART + "(\\." + PART + "){3}";

  /** A text that does not begin so would be taken for a name, and looked up. */
  private static final String IPV6 = "(?=[0-9A-Fa-f:])[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*";

  /** What stands for bytes that are none. */
  private static final char NOT_UTF_8 = '\ufffd';

  /** Why an entry is of no use to this host, for the user. */
  public static final class Unusable extends Exception {
    private static final long serialVersionUID = 1;

    Unusable(String why) {
      super(why);
    }
  }

  /**
   * Reads an entry.
   *
   * @throws Unusable when it names no subsystem with namespaces, or none that can be reached
   */
  static DiscoveryEntry of(ByteBuffer log, int at) throws Unusable {
    int kind = log.get(at + 2) & 0xff;
    if (kind != KIND_NVM) {
      throw new Unusable(kind == 1 || kind == 3 ? "a discovery service" : "of kind " + kind);
    }
    String nqn = text(log, at + 256, 256);
    String problem = Nqn.problem(nqn);
    if (problem != null) {
      throw new Unusable("a subsystem whose name " + problem);
    }
    if (nqn.indexOf('#') >= 0 || nqn.indexOf(NOT_UTF_8) >= 0) {
      throw new Unusable("a subsystem whose name has a # or is not UTF-8");
    }
    if (nqn.equals(Nqn.DISCOVERY)) {
      throw new Unusable("a discovery service");
    }
    NvmeTransport transport =
        switch (log.get(at) & 0xff) {
          case TRANSPORT_RDMA -> NvmeTransport.RDMA;
          case TRANSPORT_TCP -> NvmeTransport.TCP;
          default -> throw new Unusable(nqn + " over transport " + (log.get(at) & 0xff));
        };
    if ((log.get(at + 3) & SECURE_CHANNEL) == SECURE_CHANNEL_NEEDED) {
      throw new Unusable(nqn + " over a secure channel");
    }
    String service = text(log, at + 32, 32);
    int port = service.matches("[0-9]{1,5}") ? Integer.parseInt(service) : 0;
    if (port < 1 || port > 65535) {
      throw new Unusable(nqn + " at a port that is none");
    }
    InetAddress host = host(log.get(at + 1) & 0xff, text(log, at + 512, 256));
    if (host == null) {
      throw new Unusable(nqn + " at an address that is none");
    }
    return new DiscoveryEntry(transport, new InetSocketAddress(host, port), nqn);
  }

  /** Padded with spaces or zeros, depending on the target. */
  private static String text(ByteBuffer log, int at, int length) {
    byte[] bytes = new byte[length];
    log.get(at, bytes);
    int end = 0;
    while (end < length && bytes[end] != 0) {
      end++;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8).stripTrailing();
  }

  /** An address of a family; null when it is none. Nothing is looked up. */
  private static InetAddress host(int family, String text) {
    boolean numeric =
        family == FAMILY_IPV4 && text.matches(IPV4) || family == FAMILY_IPV6 && text.matches(IPV6);
    if (!numeric) {
      return null;
    }
    try {
      InetAddress address = InetAddress.getByName(text);
      return address.isAnyLocalAddress() || address.isMulticastAddress() ? null : address;
    } catch (UnknownHostException e) {
      return null;
    }
  }

  /** For messages. */
  @Override
  public String toString() {
    return nqn + " at " + transport + "://" + Addresses.text(address);
  }
}
