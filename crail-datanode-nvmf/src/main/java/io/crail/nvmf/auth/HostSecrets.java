/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.auth;

/**
 * What a host knows for authentication.
 *
 * @param host by which the host proves who it is; null when it has none
 * @param controller by which targets have to prove who they are; null when they do not have to
 */
public record HostSecrets(ChapSecret host, ChapSecret controller) {
  /** No secrets. */
  public static final HostSecrets NONE = new HostSecrets(null, null);

  /** The same without a demand on targets. */
  public HostSecrets ofHost() {
    return new HostSecrets(host, null);
  }
}
