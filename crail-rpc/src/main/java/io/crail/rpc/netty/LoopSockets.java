/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.Threads;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;

/**
 * The sockets of an event loop that has a thread of its own. Netty ends such a loop when a look at
 * its sockets fails, and hides that from the thread's handler; so this reports it.
 *
 * <p>Used only by the loop's thread.
 */
class LoopSockets implements IoHandler {
  private final IoHandler sockets;

  /** Creates it with the handler that drives the sockets. */
  LoopSockets(IoHandler sockets) {
    this.sockets = sockets;
  }

  /** Called before each look at the sockets. */
  void beginTurn() {}

  @Override
  public final int run(IoHandlerContext context) {
    try {
      beginTurn();
      return sockets.run(context);
    } catch (RuntimeException | Error e) {
      Threads.dies(e);
      throw e;
    }
  }

  @Override
  public final void initialize() {
    sockets.initialize();
  }

  @Override
  public final void prepareToDestroy() {
    sockets.prepareToDestroy();
  }

  @Override
  public final void destroy() {
    sockets.destroy();
  }

  @Override
  public final IoRegistration register(IoHandle handle) throws Exception {
    return sockets.register(handle);
  }

  @Override
  public final void wakeup() {
    sockets.wakeup();
  }

  @Override
  public final boolean isCompatible(Class<? extends IoHandle> type) {
    return sockets.isCompatible(type);
  }
}
