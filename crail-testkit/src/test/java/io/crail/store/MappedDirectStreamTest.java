/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Direct streams over mapped regions. */
class MappedDirectStreamTest extends DirectStreamContract {
  MappedDirectStreamTest() {
    super(true);
  }
}
