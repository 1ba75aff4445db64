/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.util.List;

/** Learns what a discovery service knows. One of the methods is called once, in the loop. */
public interface DiscoveryListener {
  /**
   * The log was read.
   *
   * @param subsystems the entries that name a subsystem with namespaces, in the log's order
   * @param others why the other entries are of no use
   */
  void found(List<DiscoveryEntry> subsystems, List<String> others);

  /** The service could not be asked; the cause names it. */
  void failed(String cause);
}
