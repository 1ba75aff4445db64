/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.netty.NettyKeys;
import io.crail.testkit.contract.TcpTransportContract;
import io.netty.channel.epoll.Epoll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The contract over epoll. */
class NettyEpollTransportTest extends TcpTransportContract {
  NettyEpollTransportTest() {
    super(NettyKeys.Io.EPOLL);
  }

  @BeforeAll
  static void requireEpoll() {
    Assumptions.assumeTrue(
        Epoll.isAvailable(), () -> "no epoll here: " + Epoll.unavailabilityCause());
  }
}
