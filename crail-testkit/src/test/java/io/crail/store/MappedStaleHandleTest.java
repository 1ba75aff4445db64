/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

/** Stale handles over mapped regions. */
class MappedStaleHandleTest extends StaleHandleContract {
  MappedStaleHandleTest() {
    super(true);
  }
}
