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

  /** Ends the use; all controllers are closed. Further calls do nothing. */
  default void close() {}
}
