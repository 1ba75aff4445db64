/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

/**
 * Which checksums a host asks for on each connection. Only TCP has them.
 *
 * @param header whether headers have one
 * @param data whether data have one
 */
public record Digests(boolean header, boolean data) {
  /** No checksums. */
  public static final Digests NONE = new Digests(false, false);
}
