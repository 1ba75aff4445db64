/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.Future;

/**
 * A descriptor of another network that ends a loop's sleep when it is readable. It is neither read
 * nor closed here. Its owner polls after the sleep and does the rest.
 */
final class EpollWatch implements EpollIoHandle {
  private final FileDescriptor descriptor;

  private EpollWatch(int descriptor) {
    this.descriptor = new FileDescriptor(descriptor);
  }

  /**
   * Begins to watch a descriptor, until the loop or the registration ends. Called by the loop's
   * driver.
   *
   * @return null when the loop cannot watch
   */
  static IoRegistration begin(IoEventLoop eventLoop, int descriptor) {
    Future<IoRegistration> registered = eventLoop.register(new EpollWatch(descriptor));
    boolean begun = registered.isSuccess() && registered.getNow().submit(EpollIoOps.EPOLLIN) >= 0;
    return begun ? registered.getNow() : null;
  }

  @Override
  public FileDescriptor fd() {
    return descriptor;
  }

  @Override
  public void handle(IoRegistration registration, IoEvent event) {}

  @Override
  public void close() {}
}
