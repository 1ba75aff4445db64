/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.AbstractScheduledEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * An event loop without a thread of its own. The thread that drives the client loop counts as its
 * thread while it drives. Netty's own manual loop would always belong to one thread.
 */
final class DrivenEventLoop extends AbstractScheduledEventExecutor implements IoEventLoop {
  private final Predicate<Thread> isDriver;
  private final BooleanSupplier mayWait;
  private final Runnable tasksAdded;
  private final IoHandler handler;
  private final Waiting waiting = new Waiting();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Promise<Void> terminated = new DefaultPromise<>(GlobalEventExecutor.INSTANCE);
  private final Object wakeupLock = new Object();
  private int handles;
  private boolean initialized;
  private volatile boolean destroyed;

  /**
   * Creates a loop.
   *
   * @param isDriver whether a thread drives the loop now
   * @param mayWait false when the driver must not fall asleep
   * @param tasksAdded called by a thread that does not drive and has added a task
   */
  DrivenEventLoop(
      IoHandlerFactory factory,
      Predicate<Thread> isDriver,
      BooleanSupplier mayWait,
      Runnable tasksAdded) {
    this.isDriver = isDriver;
    this.mayWait = mayWait;
    this.tasksAdded = tasksAdded;
    this.handler = factory.newHandler(this);
  }

  /**
   * Runs the network once, and then all tasks. Called by the driver.
   *
   * @param waitNanos the longest time to wait; negative: do not wait
   */
  void poll(long waitNanos) {
    initialize();
    waiting.nanos = waitNanos;
    handler.run(waiting);
    runTasks();
  }

  /** True when a poll may find something: a task waits, or a channel was ever registered. */
  boolean isUsed() {
    return handles > 0 || !tasks.isEmpty() || hasScheduledTasks();
  }

  private void initialize() {
    if (!initialized) {
      initialized = true;
      handler.initialize();
    }
  }

  /** Runs the tasks that are due. Called by the driver. */
  void runTasks() {
    fetchFromScheduledTaskQueue(tasks);
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      safeExecute(task);
    }
  }

  /** Ends the wait of a {@link #poll} in another thread. */
  void wakeup() {
    // Never after the handler's descriptors were closed, since their numbers may then belong to
    // other files.
    synchronized (wakeupLock) {
      if (!destroyed) {
        handler.wakeup();
      }
    }
  }

  /** Closes all channels and ends the loop. Called by the driver. */
  void destroy() {
    // A loop may end before its first poll, and io_uring refuses to end a handler that was not
    // initialized.
    initialize();
    runTasks();
    handler.prepareToDestroy();
    cancelScheduledTasks();
    runTasks();
    synchronized (wakeupLock) {
      destroyed = true;
    }
    handler.destroy();
    runTasks();
    terminated.setSuccess(null);
  }

  @Override
  public boolean inEventLoop(Thread thread) {
    return isDriver.test(thread);
  }

  @Override
  public void execute(Runnable task) {
    if (destroyed && !inEventLoop()) {
      throw new RejectedExecutionException("the loop is closed");
    }
    tasks.add(task);
    if (!inEventLoop()) {
      tasksAdded.run();
    }
  }

  @Override
  public IoEventLoop next() {
    return this;
  }

  @Override
  public IoEventLoopGroup parent() {
    return null;
  }

  @Override
  public Future<IoRegistration> register(IoHandle handle) {
    Promise<IoRegistration> promise = newPromise();
    if (inEventLoop()) {
      register(handle, promise);
    } else {
      execute(() -> register(handle, promise));
    }
    return promise;
  }

  private void register(IoHandle handle, Promise<IoRegistration> promise) {
    try {
      IoRegistration registration = handler.register(handle);
      // A watched descriptor belongs to another network.
      handles += handle instanceof EpollWatch ? 0 : 1;
      promise.setSuccess(registration);
    } catch (Exception e) {
      promise.setFailure(e);
    }
  }

  @Override
  @Deprecated
  public ChannelFuture register(Channel channel) {
    return register(new DefaultChannelPromise(channel, this));
  }

  @Override
  @Deprecated
  public ChannelFuture register(ChannelPromise promise) {
    promise.channel().unsafe().register(this, promise);
    return promise;
  }

  @Override
  @Deprecated
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    channel.unsafe().register(this, promise);
    return promise;
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return handler.isCompatible(handleType);
  }

  @Override
  public boolean isIoType(Class<? extends IoHandler> handlerType) {
    return handler.getClass().equals(handlerType);
  }

  /** Not supported: the loop ends with the client loop that it belongs to. */
  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException("close the client loop instead");
  }

  /** Not supported: the loop ends with the client loop that it belongs to. */
  @Override
  @Deprecated
  public void shutdown() {
    throw new UnsupportedOperationException("close the client loop instead");
  }

  @Override
  public Future<?> terminationFuture() {
    return terminated;
  }

  @Override
  public boolean isShuttingDown() {
    return destroyed;
  }

  @Override
  public boolean isShutdown() {
    return destroyed;
  }

  @Override
  public boolean isTerminated() {
    return terminated.isDone();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return terminated.await(timeout, unit);
  }

  /** Says to the I/O handler how long it may wait in the present poll. */
  private final class Waiting implements IoHandlerContext {
    private long nanos;

    @Override
    public boolean canBlock() {
      return nanos >= 0 && tasks.isEmpty() && mayWait.getAsBoolean() && !hasScheduledTasks();
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
      return Math.min(Math.max(nanos, 0), DrivenEventLoop.this.delayNanos(currentTimeNanos, nanos));
    }

    @Override
    public long deadlineNanos() {
      long end = ticker().nanoTime() + Math.max(nanos, 0);
      long scheduled = nextScheduledTaskDeadlineNanos();
      return scheduled == -1 || scheduled - end > 0 ? end : scheduled;
    }
  }
}
