/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.conf;

/** What a namenode does so that its metadata survive its end. */
public enum Durability {
  /** Nothing: a namenode that starts is empty. */
  NONE,
  /** What was acknowledged is in its log soon; a crash loses the last changes. */
  ASYNC,
  /** What was acknowledged is in its log, on the disk. */
  SYNC;
}
