/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import java.util.List;

/** Makes controllers for one loop, with what they share. Used only in the loop. */
public interface Initiator {
  /**
   * Creates a controller, which is not started yet.
   *
   * @param namespaces the numbers of the namespaces to use; empty for all
   */
  Controller controller(
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Controller.Listener listener);

  /**
   * Reads the log of a discovery service.
   *
   * @param service its address, and its name as a subsystem
   */
  default void discover(Subsystem service, ControllerLimits limits, DiscoveryListener listener) {
    listener.failed(service + ": this initiator asks no discovery services");
  }

  /** Ends the use; all controllers are closed. Further calls do nothing. */
  default void close() {}
}
