/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import io.crail.rpc.netty.NettyKeys;
import io.crail.testkit.contract.TcpTransportContract;
import io.netty.channel.uring.IoUring;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The contract over io_uring. */
class NettyIoUringTransportTest extends TcpTransportContract {
  NettyIoUringTransportTest() {
    super(NettyKeys.Io.IO_URING);
  }

  @BeforeAll
  static void requireIoUring() {
    Assumptions.assumeTrue(
        IoUring.isAvailable(), () -> "no io_uring here: " + IoUring.unavailabilityCause());
  }

  @Override
  public int bytesOfCall() {
    return 1200;
  }
}
