/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.spdk;

import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.Subsystem;
import java.util.List;

/**
 * Makes controllers that SPDK drives.
 *
 * @param spdk SPDK in the loop
 * @param digests what is asked for over TCP
 */
record SpdkInitiator(SpdkLoop spdk, Digests digests) implements Initiator {
  @Override
  public Controller controller(
      Subsystem subsystem,
      List<Integer> namespaces,
      ControllerLimits limits,
      Controller.Listener listener) {
    return new SpdkController(spdk, subsystem, namespaces, digests, limits, listener);
  }
}
