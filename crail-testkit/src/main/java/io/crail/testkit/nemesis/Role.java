/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

/** The kinds of processes in a cluster. */
public enum Role {
  /** A process with a store. */
  CLIENT,
  /** A process that lends space. */
  DATANODE,
  /** A process that holds names. */
  NAMENODE
}
