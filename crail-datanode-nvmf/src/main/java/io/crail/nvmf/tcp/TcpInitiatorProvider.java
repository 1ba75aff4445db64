/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf.tcp;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.fabric.FabricInitiator;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyClientLoop;

/** Initiators in Java over TCP. */
public final class TcpInitiatorProvider implements InitiatorProvider {
  /** Creates the provider; for {@link java.util.ServiceLoader}. */
  public TcpInitiatorProvider() {}

  @Override
  public String name() {
    return JAVA;
  }

  @Override
  public boolean serves(NvmeTransport transport) {
    return transport == NvmeTransport.TCP;
  }

  @Override
  public Initiator create(ClientLoop loop, Configuration configuration, Digests digests)
      throws CrailException {
    if (loop instanceof NettyClientLoop netty) {
      return new FabricInitiator(
          loop,
          (address, queueId, entries, deadlineNanos, listener) -> {
            TcpQueue queue = new TcpQueue(netty, digests, entries - 1, listener);
            queue.open(address, deadlineNanos);
            return queue;
          });
    }
    throw ErrorCode.UNSUPPORTED.exception("NVMe/TCP needs a loop of Netty");
  }
}
