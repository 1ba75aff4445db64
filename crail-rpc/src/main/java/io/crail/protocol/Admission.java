/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.util.function.Supplier;

/** Whether a server takes requests that would change something. Thread-safe once it is set. */
public final class Admission {
  private Supplier<String> refusal = () -> null;

  /** Sets what says why they are refused; null if they are not. Before the first request. */
  public void set(Supplier<String> newRefusal) {
    refusal = newRefusal;
  }

  /** Why they are refused now; null if they are not. */
  String refusal() {
    return refusal.get();
  }
}
