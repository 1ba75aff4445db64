/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import io.crail.rpc.netty.NettyKeys;
import io.netty.channel.uring.IoUring;
import org.junit.jupiter.api.condition.EnabledIf;

/** The TCP tier over io_uring, where the kernel has it. */
@EnabledIf("isAvailable")
class TcpTierIoUringTest extends TcpTierContract {
  static boolean isAvailable() {
    return IoUring.isAvailable();
  }

  @Override
  NettyKeys.Io io() {
    return NettyKeys.Io.IO_URING;
  }

  @Override
  protected int bytesOfTransfer() {
    return 1500;
  }
}
