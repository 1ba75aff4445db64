/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.log;

/** The same over three namenodes. */
class SpreadLogEntriesTest extends LogEntriesTest {
  @Override
  int namenodes() {
    return 3;
  }
}
