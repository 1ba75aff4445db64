/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

/** What can happen to a part of a cluster for some time. */
public enum Fault {
  /** It is killed, and started again at the end. */
  KILL,
  /** It stands still, and goes on at the end. */
  STOP,
  /** It hears and reaches nobody until the end. */
  CUT,
  /** The memory that it has not used yet is taken by somebody else until the end. */
  FILL
}
