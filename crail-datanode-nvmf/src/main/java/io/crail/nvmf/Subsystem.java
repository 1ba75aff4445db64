/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.Addresses;
import java.net.InetSocketAddress;

/**
 * A subsystem of a target, as a host reaches it.
 *
 * @param transport the kind of network
 * @param address where the target listens; may be unresolved
 * @param nqn the subsystem's name
 * @param host who connects
 */
public record Subsystem(
    NvmeTransport transport, InetSocketAddress address, String nqn, NvmeHost host) {
  /** For messages. */
  @Override
  public String toString() {
    return nqn + " at " + Addresses.text(address);
  }
}
