/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.rpc.loop.DrivenLoop;
import io.crail.rpc.loop.LoopTask;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * One attempt to connect. It resolves the name in another thread, since that may block. Then it
 * tries the addresses one after the other. At its deadline it fails in any case. Used only in the
 * loop.
 */
public final class Dialer {
  /** Receives the result. Called in the loop, at most once, and not after the loop has ended. */
  public interface Listener {
    /** The connection is established. */
    void connected(Channel channel);

    /** There is no connection; {@code cause} is a sentence for people. */
    void failed(String cause);
  }

  private static final long MIN_ATTEMPT_MILLIS = 50;

  private final DrivenLoop loop;
  private final Bootstrap bootstrap;
  private final Executor resolver;
  private final InetSocketAddress address;
  private final long deadlineNanos;
  private final Listener listener;

  private Future<?> timer;
  private InetAddress[] hosts;
  private int tried;
  private ChannelFuture attempt;
  private boolean done;

  /**
   * Creates an attempt that has not begun.
   *
   * @param bootstrap makes channels on the loop; each address gets a copy of it
   * @param resolver resolves names, in threads that may block
   */
  Dialer(
      DrivenLoop loop,
      Bootstrap bootstrap,
      Executor resolver,
      InetSocketAddress address,
      long deadlineNanos,
      Listener listener) {
    this.loop = loop;
    this.bootstrap = bootstrap;
    this.resolver = resolver;
    this.address = address;
    this.deadlineNanos = deadlineNanos;
    this.listener = listener;
  }

  void start() {
    timer =
        bootstrap
            .config()
            .group()
            .schedule(() -> fail("no connection in time"), remainingNanos(), TimeUnit.NANOSECONDS);
    if (!address.isUnresolved()) {
      hosts = new InetAddress[] {address.getAddress()};
      tryNext("");
      return;
    }
    try {
      resolver.execute(this::resolve);
    } catch (RejectedExecutionException e) {
      fail("too many names to resolve at once");
    } catch (OutOfMemoryError e) {
      fail("no thread to resolve names: " + e.getMessage());
    }
  }

  /** Runs in the resolver's thread. */
  private void resolve() {
    InetAddress[] found = null;
    String failure = "";
    try {
      found = InetAddress.getAllByName(address.getHostString());
    } catch (UnknownHostException e) {
      failure = "unknown host " + address.getHostString();
    } catch (RuntimeException | Error e) {
      failure = "cannot resolve " + address.getHostString() + ": " + e;
    }
    loop.submit(new Resolved(found, failure));
  }

  private final class Resolved implements LoopTask {
    private final InetAddress[] found;
    private final String failure;

    Resolved(InetAddress[] found, String failure) {
      this.found = found;
      this.failure = failure;
    }

    @Override
    public void runInLoop() {
      if (done) {
        return;
      }
      if (found == null) {
        fail(failure);
      } else {
        hosts = found;
        tryNext("");
      }
    }
  }

  private void tryNext(String lastFailure) {
    if (done) {
      return;
    }
    if (tried == hosts.length || loop.isClosed()) {
      fail(loop.isClosed() ? "the loop was closed" : lastFailure);
      return;
    }
    // Each address gets its share of the time, so that a dead one does not use it up.
    long millis = remainingNanos() / 1_000_000 / (hosts.length - tried);
    InetAddress host = hosts[tried++];
    attempt =
        bootstrap
            .clone()
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                (int) Math.min(Integer.MAX_VALUE, Math.max(MIN_ATTEMPT_MILLIS, millis)))
            .connect(new InetSocketAddress(host, address.getPort()));
    attempt.addListener((ChannelFuture future) -> attempted(host, future));
  }

  private void attempted(InetAddress host, ChannelFuture future) {
    if (!future.isSuccess()) {
      String why = future.cause() == null ? "cancelled" : NettySockets.text(future.cause());
      boolean named = !host.getHostAddress().equals(address.getHostString());
      tryNext(named ? why + " (" + host.getHostAddress() + ")" : why);
    } else if (done) {
      future.channel().close();
    } else {
      done = true;
      timer.cancel(false);
      listener.connected(future.channel());
    }
  }

  private void fail(String cause) {
    if (done) {
      return;
    }
    done = true;
    timer.cancel(false);
    if (attempt != null && !attempt.isDone()) {
      attempt.cancel(false);
    }
    listener.failed(cause);
  }

  private long remainingNanos() {
    return Math.max(0, deadlineNanos - loop.clock().nanoTime());
  }
}
