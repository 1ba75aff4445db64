/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Interrupts over TCP. */
class TcpInterruptTest extends InterruptContract {
  TcpInterruptTest() {
    super(false);
  }
}
