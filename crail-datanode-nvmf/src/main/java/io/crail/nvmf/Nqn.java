/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.Printable;
import java.nio.charset.StandardCharsets;

/** Qualified names of subsystems and hosts. */
public final class Nqn {
  /** The most bytes of a name. */
  public static final int MAX_LENGTH = 223;

  /** The name of every discovery service. */
  public static final String DISCOVERY = "nqn.2014-08.org.nvmexpress.discovery";

  private Nqn() {}

  /**
   * Why a text is no name, or null when it is one. Whether a name is well formed beyond that is for
   * the target to decide: targets accept more than the specification allows.
   */
  public static String problem(String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > MAX_LENGTH) {
      return "has " + length + " bytes, must have 1 to " + MAX_LENGTH;
    }
    return name.indexOf(' ') >= 0 || !Printable.isPrintable(name)
        ? "has a space or a control character"
        : null;
  }

  static byte[] bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
