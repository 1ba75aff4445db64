/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.netty.NettyKeys;
import io.crail.testkit.contract.TcpTransportContract;

/** The contract over the JDK's selectors. */
class NettyNioTransportTest extends TcpTransportContract {
  NettyNioTransportTest() {
    super(NettyKeys.Io.NIO);
  }
}
