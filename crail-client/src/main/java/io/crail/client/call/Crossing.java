/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodePath;

/** Whether a rename would cross from one namenode to another. Stateless. */
public final class Crossing {
  private Crossing() {}

  /**
   * Whether two paths are at different namenodes. What a client knows of spread directories may be
   * old or incomplete. So if it knows any, it looks both paths up before it answers true, unless in
   * a callback, which must not wait.
   */
  public static boolean isAcross(Utf8 from, Utf8 to, LoopContext context)
      throws InterruptedException {
    boolean mayLearn = context.namenodes().routes().isAny() && !context.loop().isDriver();
    // An old way is forgotten at the second try.
    for (int i = 0; i < 2 && mayLearn && isAcrossAsKnown(from, to, context); i++) {
      // Both, before it is judged again.
      mayLearn = learn(from, context) & learn(to, context);
    }
    return isAcrossAsKnown(from, to, context);
  }

  private static boolean isAcrossAsKnown(Utf8 from, Utf8 to, LoopContext context) {
    NameNodeClient namenodes = context.namenodes();
    return NodePath.namenodeOf(namenodes.routed(from), namenodes.count())
        != NodePath.namenodeOf(namenodes.routed(to), namenodes.count());
  }

  /** Returns false when no namenode has answered, so that another try would only wait again. */
  private static boolean learn(Utf8 path, LoopContext context) throws InterruptedException {
    try {
      context.namenodes().call(NameNodeOperations.LOOKUP, new Lookup.Request(path)).join();
      return true;
    } catch (CrailException e) {
      // What is known is all that can be judged by.
      return e.code() != ErrorCode.TIMED_OUT
          && e.code() != ErrorCode.UNAVAILABLE
          && e.code() != ErrorCode.CLOSED;
    }
  }
}
