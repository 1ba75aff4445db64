/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Threads;
import io.crail.common.config.Configuration;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A server's event loop that dies of an error, which Netty only logs. */
class EventLoopDeathTest {
  /** Sockets that fail at the first look. */
  private static final class Failing implements IoHandler {
    @Override
    public int run(IoHandlerContext context) {
      throw new OutOfMemoryError("as asked for");
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void wakeup() {}

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
      return false;
    }
  }

  @Test
  void theProcessHearsOfIt() throws Exception {
    UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();
    AtomicReference<String> seen = new AtomicReference<>();
    CountDownLatch died = new CountDownLatch(1);
    Threads.Guard guard =
        (thread, cause) -> {
          seen.set(thread.getName() + ": " + cause.getMessage());
          died.countDown();
        };
    Thread.setDefaultUncaughtExceptionHandler(guard);
    NettyTransport transport = new NettyTransport(Configuration.builder().build());
    try {
      transport
          .newEventLoops("test", 1, executor -> new LoopSockets(new Failing()))
          .execute(() -> {});
      assertTrue(died.await(60, TimeUnit.SECONDS));
      assertEquals("crail-test-0: as asked for", seen.get());
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(former);
      transport.close();
    }
  }
}
