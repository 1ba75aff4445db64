/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Interrupts over mapped regions. */
class MappedInterruptTest extends InterruptContract {
  MappedInterruptTest() {
    super(true);
  }
}
