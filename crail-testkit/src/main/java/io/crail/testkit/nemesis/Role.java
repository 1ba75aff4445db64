/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nemesis;

/** The parts of a cluster. */
public enum Role {
  /** A process with a store. */
  CLIENT,
  /** One that lends space. */
  DATANODE,
  /** One that knows names. */
  NAMENODE
}
