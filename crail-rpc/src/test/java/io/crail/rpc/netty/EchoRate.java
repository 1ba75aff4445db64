/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Transport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Calls per second and latency of requests of 48 bytes and answers of 120, one client thread.
 * Arguments: seconds of a round, rounds, calls in flight..., then {@code key=value} settings.
 */
public final class EchoRate {
  private static final int REQUEST_BODY = 32;
  private static final int RESPONSE_BODY = 104;

  private EchoRate() {}

  /** Runs the measurement. */
  public static void main(String[] arguments) throws Exception {
    Configuration.Builder builder = Configuration.builder();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (equals > 0) {
        builder.set(
            argument.substring(0, equals), argument.substring(equals + 1), "the command line");
      }
    }
    double seconds = Double.parseDouble(arguments[0]);
    int rounds = Integer.parseInt(arguments[1]);
    int[] depths =
        Arrays.stream(arguments)
            .skip(2)
            .filter(a -> a.indexOf('=') < 0)
            .mapToInt(Integer::parseInt)
            .toArray();
    try (Transport transport = new NettyTransport(builder.build());
        Transport.ServerEndpoint server =
            transport.listen(
                "echo",
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                new FixedAnswer());
        ClientLoop loop = transport.newClientLoop("rate")) {
      for (int round = 0; round < rounds; round++) {
        for (int depth : depths) {
          run(loop, server.address(), depth, seconds);
        }
      }
    }
  }

  private static void run(ClientLoop loop, InetSocketAddress address, int depth, double seconds)
      throws Exception {
    RpcPeer peer = new RpcPeer(loop, address, Call::new, RpcPeer.Options.defaults());
    Call[] calls = new Call[depth];
    for (int i = 0; i < depth; i++) {
      calls[i] = new Call(peer);
      calls[i].submit();
    }
    long start = System.nanoTime();
    long end = start + (long) (seconds * 1e9);
    long done = 0;
    long[] latencies = new long[1 << 20];
    int samples = 0;
    long last = start;
    while (last - end < 0) {
      for (int i = 0; i < depth; i++) {
        if (!loop.await(calls[i], System.nanoTime() + 5_000_000_000L)
            || calls[i].failure() != null) {
          throw new IllegalStateException("call failed", calls[i].failure());
        }
        done++;
        calls[i].again();
        calls[i].submit();
      }
      long now = System.nanoTime();
      if (samples < latencies.length) {
        latencies[samples++] = now - last;
      }
      last = now;
    }
    for (Call call : calls) {
      loop.await(call, System.nanoTime() + 5_000_000_000L);
    }
    loop.submit(peer::close);
    Arrays.sort(latencies, 0, samples);
    System.out.printf(
        "%4d in flight: %10.0f calls/s, round p50 %.1f us, p99 %.1f us%n",
        depth,
        done / ((last - start) / 1e9),
        latencies[samples / 2] / 1e3,
        latencies[samples * 99 / 100] / 1e3);
  }

  private static final class Call extends RpcCall {
    private final RpcPeer peer;

    Call(RpcPeer peer) {
      this.peer = peer;
      again();
    }

    void again() {
      prepare(peer, System.nanoTime() + 5_000_000_000L);
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
      return REQUEST_BODY;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      for (int i = 0; i < REQUEST_BODY; i += Long.BYTES) {
        out.putLong(offset + i, i);
      }
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      if (length != RESPONSE_BODY || in.getLong(offset + 96) != 96) {
        throw new IllegalStateException("bad answer");
      }
    }
  }

  private static final class FixedAnswer implements Service {
    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        int body = responses.begin(RESPONSE_BODY);
        ByteBuffer out = responses.buffer();
        for (int at = 0; at < RESPONSE_BODY; at += Long.BYTES) {
          out.putLong(body + at, at);
        }
        responses.end(batch.correlationId(i), RESPONSE_BODY);
      }
    }
  }
}
