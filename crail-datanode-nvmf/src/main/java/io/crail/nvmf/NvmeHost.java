/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.nvmf.auth.HostSecrets;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The identity of a host to targets. The id belongs to the name: targets refuse one id with two
 * names.
 *
 * @param nqn its name
 * @param id its id
 * @param secrets by which it proves who it is, and targets have to
 */
public record NvmeHost(String nqn, UUID id, HostSecrets secrets) {
  private static final String UUID_FORM = "nqn.2014-08.org.nvmexpress:uuid:";

  /** The host of a name; the id is the one in the name, or else a hash of the name. */
  public static NvmeHost named(String nqn) {
    if (nqn.startsWith(UUID_FORM)) {
      try {
        return new NvmeHost(
            nqn, UUID.fromString(nqn.substring(UUID_FORM.length())), HostSecrets.NONE);
      } catch (IllegalArgumentException e) {
        // The name only looks like that form.
      }
    }
    UUID id = UUID.nameUUIDFromBytes(nqn.getBytes(StandardCharsets.UTF_8));
    return new NvmeHost(nqn, id, HostSecrets.NONE);
  }

  /** The same host with other secrets. */
  public NvmeHost with(HostSecrets others) {
    return new NvmeHost(nqn, id, others);
  }

  /** Whether anybody has to prove who it is. */
  public boolean hasSecrets() {
    return !secrets.equals(HostSecrets.NONE);
  }
}
