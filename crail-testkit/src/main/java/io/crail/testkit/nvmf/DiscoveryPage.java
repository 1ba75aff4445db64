/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The log of a discovery service, as bytes. */
public final class DiscoveryPage {
  /** The name of every discovery service. */
  public static final String NQN = "nqn.2014-08.org.nvmexpress.discovery";

  private static final int UNIT = 1024;

  private DiscoveryPage() {}

  /**
   * An entry.
   *
   * @param transport 1: RDMA, 3: TCP
   * @param family 1: IPv4, 2: IPv6
   * @param kind 1: another service, 2: a subsystem, 3: this service
   */
  public static byte[] entry(
      int transport, int family, int kind, String service, String nqn, String address) {
    byte[] entry = new byte[UNIT];
    entry[0] = (byte) transport;
    entry[1] = (byte) family;
    entry[2] = (byte) kind;
    // The controller's number: any.
    entry[6] = -1;
    entry[7] = -1;
    entry[8] = 32;
    put(entry, 32, 32, service);
    put(entry, 256, 256, nqn);
    put(entry, 512, 256, address);
    return entry;
  }

  private static void put(byte[] entry, int at, int length, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, entry, at, bytes.length);
    // Some targets pad with spaces; the name always ends with a zero.
    for (int i = bytes.length; i < length && at != 256; i++) {
      entry[at + i] = ' ';
    }
  }

  /** The entry of a target over TCP. */
  public static byte[] entry(NvmeTarget target) {
    InetSocketAddress at = target.address();
    InetAddress host = at.getAddress();
    int family = host.getAddress().length == 4 ? 1 : 2;
    return entry(3, family, 2, "" + at.getPort(), target.nqn(), host.getHostAddress());
  }

  /** A log. */
  public static byte[] log(long generation, byte[]... entries) {
    ByteBuffer head = ByteBuffer.allocate(UNIT).order(ByteOrder.LITTLE_ENDIAN);
    head.putLong(0, generation).putLong(8, entries.length);
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    log.writeBytes(head.array());
    for (byte[] each : entries) {
      log.writeBytes(each);
    }
    return log.toByteArray();
  }
}
