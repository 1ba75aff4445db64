/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab.jmh;

import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A call of a service that does nothing, with call objects that are reused. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class RpcBenchmark {
  private static final int IN_FLIGHT = 128;
  private static final int REQUEST_BYTES = 32;
  private static final int RESPONSE_BYTES = 96;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;

  private final Call[] calls = new Call[IN_FLIGHT];
  private Transport transport;
  private Transport.ServerEndpoint server;
  private ClientLoop loop;
  private RpcPeer peer;

  /** Connects. */
  @Setup
  public void open() throws IOException, InterruptedException {
    transport = TransportProvider.open(Configuration.defaults());
    server =
        transport.listen(
            "echo",
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            RpcBenchmark::serve);
    loop = transport.newClientLoop("bench");
    peer = new RpcPeer(loop, server.address(), RpcBenchmark::handshake, RpcPeer.Options.defaults());
    for (int i = 0; i < calls.length; i++) {
      calls[i] = new Call();
    }
    oneInFlight();
  }

  /** Closes everything. */
  @TearDown
  public void close() {
    loop.submit(peer::close);
    loop.close();
    server.close();
    transport.close();
  }

  private static void serve(RequestBatch batch, ResponseWriter responses) {
    for (int i = 0; i < batch.count(); i++) {
      int body = responses.begin(RESPONSE_BYTES);
      responses.buffer().putInt(body, batch.buffer().getInt(batch.bodyOffset(i)));
      responses.end(batch.correlationId(i), RESPONSE_BYTES);
    }
  }

  private static RpcCall handshake(RpcPeer peer) {
    Call call = new Call();
    call.use(peer);
    return call;
  }

  /** One call at a time. */
  @Benchmark
  public int oneInFlight() throws InterruptedException {
    Call call = calls[0];
    call.use(peer);
    call.submit();
    loop.await(call, call.deadlineNanos());
    return call.value();
  }

  /** All calls are submitted, then all are awaited. */
  @Benchmark
  @OperationsPerInvocation(IN_FLIGHT)
  public int manyInFlight() throws InterruptedException {
    for (Call call : calls) {
      call.use(peer);
      call.submit();
    }
    int sum = 0;
    for (Call call : calls) {
      loop.await(call, call.deadlineNanos());
      sum += call.value();
    }
    return sum;
  }

  /** A call without a request and a response. */
  private static final class Call extends RpcCall {
    private int value;

    void use(RpcPeer target) {
      prepare(target, target.loop().clock().nanoTime() + TIMEOUT_NANOS);
    }

    int value() {
      if (isFailed()) {
        throw new IllegalStateException(failure());
      }
      return value;
    }

    @Override
    protected int opcode() {
      return 1;
    }

    @Override
    protected boolean changes() {
      return false;
    }

    @Override
    protected int bodyLength() {
      return REQUEST_BYTES;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putInt(offset, Frame.VERSION);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      value = in.getInt(offset);
    }
  }
}
