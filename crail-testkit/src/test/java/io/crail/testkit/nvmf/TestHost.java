/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.nvmf.auth.HostSecrets;
import io.crail.rpc.netty.NettyClientLoop;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** A host with one controller, whose methods may be called by any thread. */
final class TestHost implements AutoCloseable {
  static final long PATIENCE_SECONDS = 60;

  /** The end of a controller. */
  static final class Lost extends Exception {
    private static final long serialVersionUID = 1;

    Lost(String cause) {
      super(cause);
    }
  }

  /** How a host begins. */
  record Start(
      String initiator,
      Subsystem subsystem,
      List<Integer> namespaces,
      Digests digests,
      ControllerLimits limits) {
    static final NvmeHost HOST = NvmeHost.named("nqn.2026-11.io.crail:host");

    static Start at(NvmeTarget target) {
      return at(new Subsystem(NvmeTransport.TCP, target.address(), target.nqn(), HOST));
    }

    static Start at(Subsystem subsystem) {
      return new Start(
          TestInitiators.JAVA, subsystem, List.of(), Digests.NONE, limits(32, 10_000, 5_000));
    }

    static ControllerLimits limits(int depth, int keepAliveMillis, int timeoutMillis) {
      return new ControllerLimits(
          depth, Duration.ofMillis(keepAliveMillis), timeoutMillis * 1_000_000L);
    }

    Start initiator(String name) {
      return new Start(name, subsystem, namespaces, digests, limits);
    }

    Start nqn(String other) {
      return new Start(
          initiator,
          new Subsystem(subsystem.transport(), subsystem.address(), other, subsystem.host()),
          namespaces,
          digests,
          limits);
    }

    Start address(InetSocketAddress other) {
      return new Start(
          initiator,
          new Subsystem(subsystem.transport(), other, subsystem.nqn(), subsystem.host()),
          namespaces,
          digests,
          limits);
    }

    Start secrets(HostSecrets secrets) {
      return new Start(
          initiator,
          new Subsystem(
              subsystem.transport(),
              subsystem.address(),
              subsystem.nqn(),
              subsystem.host().with(secrets)),
          namespaces,
          digests,
          limits);
    }

    Start namespaces(Integer... numbers) {
      return new Start(initiator, subsystem, List.of(numbers), digests, limits);
    }

    Start digests(boolean header, boolean data) {
      return new Start(initiator, subsystem, namespaces, new Digests(header, data), limits);
    }

    Start limits(ControllerLimits other) {
      return new Start(initiator, subsystem, namespaces, digests, other);
    }

    private Initiator create(NettyClientLoop loop, Configuration configuration)
        throws CrailException {
      return TestInitiators.provider(initiator, subsystem.transport())
          .create(loop, configuration, digests);
    }
  }

  private final NettyTransport transport;
  private final NettyClientLoop loop;
  private final CompletableFuture<Controller> started = new CompletableFuture<>();
  private final CompletableFuture<String> lost = new CompletableFuture<>();
  private final Deque<Access> waiting = new ArrayDeque<>();
  private Initiator initiator;
  private volatile Controller controller;

  /** Runs in the loop when the controller is lost. */
  private Runnable onLost = () -> {};

  TestHost(Start start) {
    this(start, NettyKeys.Io.AUTO);
  }

  TestHost(Start start, NettyKeys.Io io) {
    this(start, Configuration.builder().set(NettyKeys.IO, io).build());
  }

  TestHost(Start start, Configuration configuration) {
    transport = new NettyTransport(configuration);
    loop = (NettyClientLoop) transport.newClientLoop("nvmf-test");
    // Without an operation the loop looks at its connections about once a second.
    loop.operationBegun();
    loop.submit(() -> start(start, configuration));
  }

  private void start(Start start, Configuration configuration) {
    try {
      initiator = start.create(loop, configuration);
    } catch (CrailException e) {
      started.completeExceptionally(e);
      lost.complete(e.getMessage());
      return;
    }
    controller =
        initiator.controller(
            start.subsystem(),
            start.namespaces(),
            start.limits(),
            new Controller.Listener() {
              @Override
              public void ready() {
                started.complete(controller);
              }

              @Override
              public void refused(CrailException cause) {
                started.completeExceptionally(cause);
                lost.complete(cause.getMessage());
              }

              @Override
              public void lost(String cause) {
                started.completeExceptionally(new Lost(cause));
                lost.complete(cause);
                onLost.run();
              }
            });
    controller.start();
  }

  /** Waits until the controller is ready; throws why it does not become so. */
  Controller controller() throws Exception {
    try {
      return started.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (java.util.concurrent.ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  void onLost(Runnable task) {
    loop.submit(() -> onLost = task);
  }

  NettyClientLoop loop() {
    return loop;
  }

  /** Waits until the controller is lost; returns why. */
  String lost() throws Exception {
    return lost.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  boolean isLost() {
    return lost.isDone();
  }

  /** A command of the I/O queue. */
  private final class Access extends NvmeRequest {
    private final Encoder encoder;
    private final CompletableFuture<Integer> ended = new CompletableFuture<>();

    Access(Encoder encoder, Direction direction, ByteBuffer memory, int offset, int length) {
      this.encoder = encoder;
      data(direction, memory, memory, offset, length);
    }

    @Override
    public void encode(ByteBuffer out, int at) {
      encoder.encode(out, at);
    }

    @Override
    public void ended(int status, long result) {
      ended.complete(status);
      sendWaiting();
    }

    @Override
    public void lost(String cause) {
      ended.completeExceptionally(new Lost(cause));
    }
  }

  /** Writes a command. */
  private interface Encoder {
    void encode(ByteBuffer out, int at);
  }

  private void sendWaiting() {
    while (!waiting.isEmpty() && controller.io().hasRoom()) {
      controller.io().send(waiting.poll());
    }
    controller.io().flush();
  }

  private CompletableFuture<Integer> begin(Access access) {
    loop.submit(
        () -> {
          if (lost.isDone()) {
            access.lost("before");
          } else {
            waiting.add(access);
            sendWaiting();
          }
        });
    return access.ended;
  }

  /** Begins a read of blocks; ends with the status. */
  CompletableFuture<Integer> read(
      int namespace, long block, int count, ByteBuffer memory, int offset, int length) {
    return begin(
        new Access(
            (out, at) -> NvmeCommand.read(out, at, namespace, block, count),
            NvmeRequest.Direction.TO_HOST,
            memory,
            offset,
            length));
  }

  /** Begins a write of blocks. */
  CompletableFuture<Integer> write(
      int namespace, long block, int count, ByteBuffer memory, int offset, int length) {
    return begin(
        new Access(
            (out, at) -> NvmeCommand.write(out, at, namespace, block, count),
            NvmeRequest.Direction.TO_CONTROLLER,
            memory,
            offset,
            length));
  }

  /** Begins a flush. */
  CompletableFuture<Integer> flush(int namespace) {
    return begin(
        new Access(
            (out, at) -> NvmeCommand.flush(out, at, namespace),
            NvmeRequest.Direction.NONE,
            null,
            0,
            0));
  }

  /** Waits for a status; throws {@link Lost}. */
  static int await(CompletableFuture<Integer> command) throws Exception {
    try {
      return command.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw (Exception) e.getCause();
    }
  }

  @Override
  public void close() {
    loop.submit(
        () -> {
          if (controller != null) {
            controller.close("the test is over");
            initiator.close();
          }
        });
    loop.operationEnded();
    loop.close();
    transport.close();
  }
}
