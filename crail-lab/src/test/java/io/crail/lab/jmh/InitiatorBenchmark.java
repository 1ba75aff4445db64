/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.nvmf.Controller;
import io.crail.nvmf.ControllerLimits;
import io.crail.nvmf.Digests;
import io.crail.nvmf.Initiator;
import io.crail.nvmf.InitiatorProvider;
import io.crail.nvmf.NvmeCommand;
import io.crail.nvmf.NvmeHost;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeTransport;
import io.crail.nvmf.Subsystem;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.netty.NettyTransport;
import io.crail.testkit.nvmf.NvmeTarget;
import io.crail.testkit.nvmf.TargetNamespace;
import io.crail.testkit.nvmf.TargetOptions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Reads and writes 4 KiB at random at a target of NVMe/TCP, by an initiator alone: no files,
 * futures or datanode. So it may be compared with {@code spdk_nvme_perf} at the same target. Writes
 * overwrite what is there.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class InitiatorBenchmark {
  private static final int SIZE = 4096;
  private static final int ACCESSES = 8192;
  private static final int NAMESPACE = 1;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;

  /** Whose initiator: {@code java} or {@code spdk}, which has to be there. */
  @Param({"java"})
  public String initiator;

  /** Accesses in flight. */
  @Param({"1", "4", "32"})
  public int depth;

  /** Host and port of the target; empty: one of the test kit's, in this process. */
  @Param({""})
  public String address;

  /** The subsystem, of which namespace 1 is used. */
  @Param({"nqn.2026-11.io.crail:test"})
  public String nqn;

  private final CompletableFuture<Controller> ready = new CompletableFuture<>();
  private NvmeTarget target;
  private NettyTransport transport;
  private ClientLoop loop;
  private Initiator host;
  private Controller controller;
  private Access[] accesses;

  // In the loop.
  private int unsent;
  private int running;
  private CountDownLatch over;

  /** Connects. */
  @Setup
  public void open() throws Exception {
    InetSocketAddress where;
    if (address.isEmpty()) {
      target =
          new NvmeTarget(
              new TargetOptions().nqn(nqn), new TargetNamespace(NAMESPACE, 1 << 17, 512));
      where = target.address();
    } else {
      int colon = address.lastIndexOf(':');
      where =
          new InetSocketAddress(
              address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    }
    transport = new NettyTransport(Configuration.defaults());
    loop = transport.newClientLoop("bench");
    // Without an operation the loop looks at its connections about once a second.
    loop.operationBegun();
    loop.submit(() -> connect(where));
    ready.get(60, TimeUnit.SECONDS);
    accesses = new Access[depth];
    for (int i = 0; i < depth; i++) {
      accesses[i] = new Access(new Random(i));
    }
  }

  private void connect(InetSocketAddress where) {
    try {
      host = provider().create(loop, Configuration.defaults(), Digests.NONE);
    } catch (CrailException e) {
      ready.completeExceptionally(e);
      return;
    }
    controller =
        host.controller(
            new Subsystem(
                NvmeTransport.TCP, where, nqn, NvmeHost.named("nqn.2026-11.io.crail:bench")),
            List.of(NAMESPACE),
            new ControllerLimits(64, Duration.ofSeconds(10), TIMEOUT_NANOS),
            new Controller.Listener() {
              @Override
              public void ready() {
                ready.complete(controller);
              }

              @Override
              public void refused(CrailException cause) {
                ready.completeExceptionally(cause);
              }

              @Override
              public void lost(String cause) {
                ready.completeExceptionally(new IllegalStateException(cause));
              }
            });
    controller.start();
  }

  private InitiatorProvider provider() {
    for (InitiatorProvider each : ServiceLoader.load(InitiatorProvider.class)) {
      if (each.name().equals(initiator) && each.serves(NvmeTransport.TCP)) {
        return each;
      }
    }
    throw new IllegalArgumentException("no initiator " + initiator);
  }

  /** Closes everything. */
  @TearDown
  public void close() throws Exception {
    loop.submit(
        () -> {
          controller.close("the benchmark is over");
          host.close();
        });
    loop.operationEnded();
    loop.close();
    transport.close();
    if (target != null) {
      target.close();
    }
  }

  /** Reads, always with as many in flight. */
  @Benchmark
  @OperationsPerInvocation(ACCESSES)
  public void read() throws InterruptedException {
    run(NvmeRequest.Direction.TO_HOST);
  }

  /** Writes, always with as many in flight. */
  @Benchmark
  @OperationsPerInvocation(ACCESSES)
  public void write() throws InterruptedException {
    run(NvmeRequest.Direction.TO_CONTROLLER);
  }

  private void run(NvmeRequest.Direction direction) throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(1);
    loop.submit(() -> begin(direction, latch));
    if (!latch.await(60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the accesses have not ended");
    }
  }

  private void begin(NvmeRequest.Direction direction, CountDownLatch latch) {
    over = latch;
    unsent = ACCESSES - depth;
    running = depth;
    for (Access access : accesses) {
      access.send(direction);
    }
    controller.io().flush();
  }

  private final class Access extends NvmeRequest {
    private final ByteBuffer memory = NvmeRequest.newMemory(SIZE);
    private final Random random;
    private final int places;
    private final int blocks;
    private long block;

    Access(Random random) {
      this.random = random;
      this.blocks = SIZE / controller.namespaces().get(0).blockLength();
      this.places =
          (int) Math.min(Integer.MAX_VALUE, controller.namespaces().get(0).blocks() / blocks);
    }

    void send(Direction direction) {
      block = (long) random.nextInt(places) * blocks;
      data(direction, memory, memory, 0, SIZE);
      controller.io().send(this);
    }

    @Override
    public void encode(ByteBuffer out, int at) {
      if (direction() == Direction.TO_HOST) {
        NvmeCommand.read(out, at, NAMESPACE, block, blocks);
      } else {
        NvmeCommand.write(out, at, NAMESPACE, block, blocks);
      }
    }

    @Override
    public void ended(int status, long result) {
      if (status != 0) {
        throw new IllegalStateException("status " + status);
      }
      if (unsent > 0) {
        unsent--;
        send(direction());
        controller.io().flush();
      } else if (--running == 0) {
        over.countDown();
      }
    }

    @Override
    public void lost(String cause) {
      throw new IllegalStateException(cause);
    }
  }
}
