/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.rpc.netty.NettyKeys;

/** The TCP tier over the JDK's selectors. */
class TcpTierNioTest extends TcpTierContract {
  @Override
  NettyKeys.Io io() {
    return NettyKeys.Io.NIO;
  }
}
