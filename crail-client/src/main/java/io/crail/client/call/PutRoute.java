/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

/** What the create of a put does for its bytes. */
enum PutRoute {
  /** The create carries the bytes, and the namenode keeps them if it has memory. */
  CARRIED,

  /** The create says that the bytes lie in space that was given ahead, on this host. */
  COPIED_AHEAD,

  /**
   * The create names space that was given ahead on another host. The bytes leave right after it, to
   * that space.
   */
  BESIDE_CREATE,

  /** The answer to the create tells where the bytes go. */
  AFTER_CREATE
}
