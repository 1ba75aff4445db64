/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** The same over three namenodes. */
class SpreadTakeOverTest extends TakeOverTest {
  @Override
  int namenodes() {
    return 3;
  }
}
