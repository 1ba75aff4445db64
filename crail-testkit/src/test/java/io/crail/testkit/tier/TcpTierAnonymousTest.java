/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.storage.tcp.TcpStorageKeys;

/** The TCP tier with regions in the datanode's own memory. */
class TcpTierAnonymousTest extends TcpTierContract {
  @Override
  TcpStorageKeys.Memory memory() {
    return TcpStorageKeys.Memory.ANONYMOUS;
  }
}
