/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Direct streams over TCP. */
class TcpDirectStreamTest extends DirectStreamContract {
  TcpDirectStreamTest() {
    super(false);
  }
}
