/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage;

import java.io.IOException;

/** Takes what a tier finds on a host, for {@code crail doctor}. */
public interface HostFindings {
  /** All is well. */
  void ok(String text);

  /**
   * Crail works, but slower or with less than it could.
   *
   * @param cure what to do about it
   */
  void warning(String text, String cure);

  /**
   * Something will not work.
   *
   * @param cure what to do about it
   */
  void broken(String text, String cure);

  /**
   * A datanode could not serve at its network interface. It is a warning, since the host of a
   * client need not have what those of datanodes have.
   */
  default void cannotServe(String tier, IOException why) {
    warning(
        "a datanode of tier " + tier + " could not serve: " + why.getMessage(),
        "change crail.storage." + tier + ".interface, or -i in conf/datanodes");
  }
}
