/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc;

import io.crail.common.Clock;
import io.crail.rpc.loop.DrivenLoop;

/**
 * Client connections and the one thread at a time that drives them; see {@link DrivenLoop}. A
 * transport makes the connections, unless they come from {@linkplain #connectThrough another}
 * connector.
 */
public abstract class ClientLoop extends DrivenLoop implements Connector {
  private volatile Connector connector = this;

  /**
   * Creates a loop.
   *
   * @param name names the helper thread
   * @param callersDrive whether a waiting thread may drive; otherwise only the helper does
   * @param spin whether the driver polls without ever sleeping
   * @param withHelper whether there is a helper thread; a simulation has none
   */
  protected ClientLoop(
      String name, Clock clock, boolean callersDrive, boolean spin, boolean withHelper) {
    super(name, clock, callersDrive, spin, withHelper);
  }

  /** The connector of this loop: the loop itself, unless another one was set. */
  public final Connector connector() {
    return connector;
  }

  /** Sets another connector. Must be called before the loop is used. */
  public final void connectThrough(Connector another) {
    connector = another;
  }
}
