/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.loop.Completion;
import io.crail.rpc.loop.Poller;
import io.crail.rpc.loop.Sweepable;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.FileDescriptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests another network in addition to that of a Netty loop. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class PollerTest {
  private static final long LONG = 60_000_000_000L;

  /** Completes operations when a byte comes through a pipe, which stands for a device. */
  private static final class PipePoller implements Poller {
    private final FileDescriptor[] pipe;
    private final long spinNanos;
    private final AtomicInteger polls = new AtomicInteger();
    private final CountDownLatch armed = new CountDownLatch(3);
    private volatile Op awaited;
    private volatile boolean destroyed;
    private volatile boolean hasCome;

    PipePoller(long spinNanos) throws IOException {
      this.pipe = FileDescriptor.pipe();
      this.spinNanos = spinNanos;
    }

    /** As a device does it: the completion first, then the event. */
    void arrive() throws IOException {
      hasCome = true;
      pipe[1].write(ByteBuffer.allocateDirect(1).put(0, (byte) 1), 0, 1);
    }

    @Override
    public boolean poll() {
      polls.incrementAndGet();
      if (!hasCome) {
        return false;
      }
      hasCome = false;
      try {
        pipe[0].read(ByteBuffer.allocateDirect(1), 0, 1);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
      awaited.happen();
      return true;
    }

    @Override
    public boolean isBusy() {
      return awaited != null && !awaited.isComplete();
    }

    @Override
    public long spinNanos() {
      return spinNanos;
    }

    @Override
    public boolean arm() {
      armed.countDown();
      return !hasCome;
    }

    @Override
    public void destroy() {
      destroyed = true;
    }

    void close() throws IOException {
      pipe[0].close();
      pipe[1].close();
    }
  }

  private static final class Op extends Completion {
    private volatile Thread endedBy;

    void happen() {
      endedBy = Thread.currentThread();
      succeed();
    }
  }

  private static List<NettyKeys.Io> available() {
    List<NettyKeys.Io> all = new ArrayList<>(List.of(NettyKeys.Io.NIO));
    if (Epoll.isAvailable()) {
      all.add(NettyKeys.Io.EPOLL);
    }
    return all;
  }

  private static NettyTransport transport(NettyKeys.Io io) {
    return new NettyTransport(Configuration.builder().set(NettyKeys.IO, io).build());
  }

  /** The waiting thread sleeps in the network's own wait, and still ends the operation itself. */
  @Test
  void theWaitingThreadEndsWhatComesWhileItSleeps() throws Exception {
    for (NettyKeys.Io io : available()) {
      for (long spinNanos : new long[] {0, 50_000}) {
        PipePoller poller = new PipePoller(spinNanos);
        Op op = new Op();
        poller.awaited = op;
        try (NettyTransport transport = transport(io);
            ClientLoop loop = transport.newClientLoop("test")) {
          loop.submit(
              () -> {
                loop.attach(poller);
                loop.watchDescriptor(poller.pipe[0].intValue());
                assertSame(poller, loop.attached(PipePoller.class));
              });
          Thread arrival =
              new Thread(
                  () -> {
                    try {
                      poller.armed.await();
                      poller.arrive();
                    } catch (IOException | InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                  });
          arrival.start();
          assertTrue(loop.await(op, System.nanoTime() + LONG));
          assertSame(Thread.currentThread(), op.endedBy);
          arrival.join();
        }
        assertTrue(poller.destroyed);
        poller.close();
      }
    }
  }

  /** Asleep is asleep: with a watched descriptor the loop does not ask again and again. */
  @Test
  void aWatchedDescriptorLetsTheLoopSleep() throws Exception {
    Assumptions.assumeTrue(Epoll.isAvailable(), "no epoll here");
    PipePoller poller = new PipePoller(0);
    try (NettyTransport transport = transport(NettyKeys.Io.EPOLL);
        ClientLoop loop = transport.newClientLoop("test")) {
      loop.submit(
          () -> {
            loop.attach(poller);
            loop.watchDescriptor(poller.pipe[0].intValue());
          });
      long began = System.nanoTime();
      loop.await(new Op(), began + 500_000_000);
      long sleeps = (System.nanoTime() - began) / Sweepable.INTERVAL_NANOS + 2;
      assertTrue(poller.polls.get() <= 4 * sleeps, poller.polls + " polls, " + sleeps + " sleeps");
    }
    poller.close();
  }

  /** Who never sleeps still looks at the clock. */
  @Test
  void aDeadlineEndsAWaitThatOnlyAsks() throws Exception {
    // Loads what makes pipes.
    Assumptions.assumeTrue(Epoll.isAvailable(), "no epoll here");
    PipePoller poller = new PipePoller(Long.MAX_VALUE);
    poller.awaited = new Op();
    try (NettyTransport transport = transport(NettyKeys.Io.NIO);
        ClientLoop loop = transport.newClientLoop("test")) {
      loop.submit(() -> loop.attach(poller));
      assertFalse(loop.await(poller.awaited, System.nanoTime() + 100_000_000));
      assertEquals(3, poller.armed.getCount(), "it has slept");
    }
    poller.close();
  }

  /** Beside a network that is never idle the loop's own one makes progress, once it is used. */
  @Test
  void theOwnNetworkIsAskedBesideABusyOne() throws Exception {
    Assumptions.assumeTrue(Epoll.isAvailable(), "no epoll here");
    for (NettyKeys.Io io : available()) {
      PipePoller poller = new PipePoller(Long.MAX_VALUE);
      poller.awaited = new Op();
      Op connected = new Op();
      try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
          NettyTransport transport = transport(io);
          ClientLoop loop = transport.newClientLoop("test")) {
        loop.submit(() -> loop.attach(poller));
        loop.await(new Op(), System.nanoTime() + 20_000_000);
        loop.submit(
            () ->
                loop.connect(
                    new InetSocketAddress(server.getInetAddress(), server.getLocalPort()),
                    System.nanoTime() + LONG,
                    new Outcome(connected)));
        assertTrue(loop.await(connected, System.nanoTime() + LONG));
        assertEquals(3, poller.armed.getCount(), "it has slept");
      }
      poller.close();
    }
  }

  private record Outcome(Op op) implements Connection.Handler {
    @Override
    public void connected(Connection connection) {
      op.happen();
    }

    @Override
    public void received(ByteBuffer buffer, int offset, int length) {}

    @Override
    public void writable() {}

    @Override
    public void closed(String cause) {}
  }

  @Test
  void anotherConnectorMayMakeTheConnections() {
    try (NettyTransport transport = transport(NettyKeys.Io.NIO);
        ClientLoop loop = transport.newClientLoop("test")) {
      assertSame(loop, loop.connector());
      AtomicInteger asked = new AtomicInteger();
      loop.connectThrough((address, deadlineNanos, handler) -> asked.incrementAndGet());
      loop.connector().connect(null, 0, null);
      assertEquals(1, asked.get());
    }
  }
}
