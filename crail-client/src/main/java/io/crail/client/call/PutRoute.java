/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

/** What the create of a put does for its bytes. */
enum PutRoute {
  /** It brings them, and the namenode keeps them if it has memory. */
  CARRIED,

  /** It says that they lie in space that was given ahead, on this host. */
  COPIED_AHEAD,

  /** It names space that was given ahead elsewhere; they leave right after it, to that space. */
  BESIDE_CREATE,

  /** It tells where they are to go. */
  AFTER_CREATE
}
