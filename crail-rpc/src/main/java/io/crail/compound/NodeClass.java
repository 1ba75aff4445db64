/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.error.CrailException;

/**
 * Methods that namenodes have for compound operations, so that a decision needs no round trip: each
 * looks at a node, and says which steps are performed on it. A list calls them with {@link
 * CompoundOperation.Builder#call}.
 *
 * <p>A namenode finds classes with a {@code ServiceLoader} on its class path, which only the
 * operator fills; they are trusted as the namenode itself is. A method runs while the node is
 * locked. It is a function of its arguments: it waits for nothing, reads no clock and keeps
 * nothing. A class that takes longer than a millisecond three times in a row, or fails with
 * anything but a {@code CrailException}, is called no more until the namenode starts again.
 * Thread-safe.
 *
 * <p>The idea is that of RADOS' object classes.
 */
public interface NodeClass {
  /** {@return the name by which lists call it, without dots} */
  String name();

  /**
   * Decides.
   *
   * @param method the name of the method
   * @param node the node, which need not exist; valid during the call
   * @param input what the caller gives
   * @param nowMillis the time at the namenode, in milliseconds since 1970
   * @return the steps, and what the caller gets
   * @throws CrailException the error with which the step fails; {@code CONDITION_FAILED} where a
   *     guard would not hold, and {@code UNSUPPORTED} for an unknown method
   */
  Decision call(String method, NodeView node, byte[] input, long nowMillis) throws CrailException;

  /**
   * What a method has decided.
   *
   * @param steps the steps, with the limits of a list; they call no class, and none goes on after a
   *     failure
   * @param output the bytes of the result, at most 64 KiB
   */
  record Decision(CompoundOperation steps, byte[] output) {}
}
