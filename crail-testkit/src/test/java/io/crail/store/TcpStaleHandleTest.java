/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Stale handles over TCP. */
class TcpStaleHandleTest extends StaleHandleContract {
  TcpStaleHandleTest() {
    super(false);
  }
}
