/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Where the namenodes of a cluster are. Each namenode is one process, or several peers, of which
 * one serves at a time.
 *
 * @param namenodes the addresses of the peers of each namenode, in their order; none is empty
 */
public record NamenodeAddresses(List<List<InetSocketAddress>> namenodes) {
  /** Takes copies. */
  public NamenodeAddresses {
    namenodes = namenodes.stream().map(List::copyOf).toList();
    if (namenodes.stream().anyMatch(List::isEmpty)) {
      throw new IllegalArgumentException("must name an address of each namenode");
    }
  }

  /** Those of namenodes that are one process each. */
  public static NamenodeAddresses of(List<InetSocketAddress> addresses) {
    return new NamenodeAddresses(addresses.stream().map(List::of).toList());
  }

  /** The number of namenodes. */
  public int size() {
    return namenodes.size();
  }

  /** The address of a namenode; the first one if it has several. */
  public InetSocketAddress get(int index) {
    return namenodes.get(index).get(0);
  }

  /** The addresses of all peers of a namenode. */
  public List<InetSocketAddress> peers(int index) {
    return namenodes.get(index);
  }

  /** The addresses of the peers of a namenode, for users. */
  public String text(int index) {
    return namenodes.get(index).stream().map(Addresses::text).collect(Collectors.joining("|"));
  }

  /** The addresses of all processes. */
  public List<InetSocketAddress> all() {
    return namenodes.stream().flatMap(List::stream).toList();
  }

  /** The addresses as the configuration names them. */
  @Override
  public String toString() {
    return IntStream.range(0, size()).mapToObj(this::text).collect(Collectors.joining(","));
  }
}
