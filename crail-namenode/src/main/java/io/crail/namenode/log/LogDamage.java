/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.log;

import java.io.IOException;

/** A log has lost, or has other bytes of, what was durable. Its message names the place. */
public final class LogDamage extends IOException {
  private static final long serialVersionUID = 1;

  LogDamage(String message) {
    super(message);
  }
}
