/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

/** A fault of a process, which lasts for some time. */
public enum Fault {
  /** The process is killed, and started again at the end. */
  KILL,
  /** All processes of a role are killed at once, and started again at the end. */
  KILL_ALL,
  /** The process is stopped, and continues at the end. */
  STOP,
  /** The process is cut off from the network until the end. */
  CUT,
  /** Connections to the process break, and lose requests and answers, until the end. */
  BREAK,
  /** Requests to the process arrive only at the end, when their clients have given them up. */
  HOLD,
  /** Other users take all free memory until the end. */
  FILL,
  /** A command moves the data of a datanode to others; it is killed at the end. */
  DRAIN,
  /** A command moves data from fuller to emptier datanodes; it is killed at the end. */
  REBALANCE
}
