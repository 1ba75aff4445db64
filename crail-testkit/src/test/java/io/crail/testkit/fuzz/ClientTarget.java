/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.protocol.OperationCall;
import io.crail.protocol.cluster.Hello;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A client whose namenode may answer anything. The target controls connections and time. Every call
 * must end once, by its deadline, with a valid answer or a typed error. A connection must end when
 * its peer breaks the protocol, and only then.
 *
 * <pre>{ [what][choices ...] } ...</pre>
 */
final class ClientTarget implements Target {
  private static final long SECOND = 1_000_000_000L;
  private static final int MOST_STEPS = 200;
  private static final RpcPeer.Options OPTIONS =
      new RpcPeer.Options(4, 8, 3, 2 * SECOND, SECOND / 10);
  private static final InetSocketAddress ADDRESS =
      InetSocketAddress.createUnresolved("namenode", 9060);

  @Override
  public void run(byte[] bytes) {
    try (Loop loop = new Loop();
        ErrorLog log = new ErrorLog()) {
      new Play(new Input(bytes), loop).go();
      log.requireNone();
    }
  }

  private static final class ManualTime implements Clock {
    private long nanos;

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long currentTimeMillis() {
      return nanos / 1_000_000;
    }
  }

  private static final class Loop extends ClientLoop {
    private final List<Link> links = new ArrayList<>();

    Loop() {
      super("fuzzed", new ManualTime(), true, false, false);
      start();
    }

    void pass(long nanos) {
      ((ManualTime) clock()).nanos += nanos;
      pollOnce();
    }

    @Override
    public void connect(InetSocketAddress address, long deadlineNanos, Connection.Handler handler) {
      links.add(new Link(handler));
    }

    @Override
    protected void poll(long waitNanos) {}

    @Override
    protected void wakeup() {}

    @Override
    protected void destroy() {}
  }

  /** A connection: the bytes sent on it, and whether it is open. */
  private static final class Link implements Connection {
    private final Handler handler;
    private final ByteBuffer output = ByteBuffer.allocate(1 << 18).order(ByteOrder.LITTLE_ENDIAN);
    private final List<Integer> opcodes = new ArrayList<>();
    private final List<Long> ids = new ArrayList<>();
    private int position;
    private boolean connected;
    private boolean closed;

    Link(Handler handler) {
      this.handler = handler;
    }

    @Override
    public int reserve(int frameLength) {
      return closed || output.capacity() - position < frameLength ? -1 : position;
    }

    @Override
    public ByteBuffer output() {
      return output;
    }

    @Override
    public void commit(int frameLength) {
      opcodes.add(Frame.code(output, position));
      ids.add(Frame.correlationId(output, position));
      position += frameLength;
    }

    @Override
    public void flush() {}

    @Override
    public InetSocketAddress address() {
      return ADDRESS;
    }

    @Override
    public void close(String cause) {
      if (!closed) {
        closed = true;
        handler.closed(cause);
      }
    }
  }

  /** A call, and how often it has ended. */
  private static final class Call<Q, R> extends OperationCall<Q, R> {
    private int ends;

    Call(Operation<Q, R> operation) {
      super(operation);
    }

    @Override
    protected void completed() {
      ends++;
    }
  }

  /** The client for one input. */
  private static final class Play {
    private final Input input;
    private final Hostile hostile;
    private final Loop loop;
    private final NameNodeClient client;
    private final List<Call<?, ?>> calls = new ArrayList<>();

    Play(Input input, Loop loop) {
      this.input = input;
      this.loop = loop;
      this.hostile = new Hostile(input, List.of("/", "/a", "/a/b"));
      this.client =
          new NameNodeClient(
              loop,
              List.of(ADDRESS),
              new NameNodeClient.Identity(Hello.ROLE_CLIENT, 7, "a", "crail"),
              OPTIONS,
              10 * SECOND);
    }

    void go() {
      for (int step = 0; step < MOST_STEPS && input.left() > 0; step++) {
        step(input.u8());
        loop.pollOnce();
      }
      loop.pass(11 * SECOND);
      loop.pass(SECOND);
      client.close();
      loop.pollOnce();
      for (Call<?, ?> call : calls) {
        Require.equal(1, call.ends, call.operation() + " ends");
        CrailException failure = call.failure();
        Require.that(
            failure != null ? failure.code() != ErrorCode.OK : call.response() != null,
            () -> call.operation() + " has ended with " + failure);
      }
      Require.equal(0L, loop.outstanding(), "outstanding");
    }

    private void step(int what) {
      switch (what % 8) {
        case 0, 1 -> ask();
        case 2, 3, 4, 5 -> event();
        case 6 -> loop.pass(input.below(2) == 0 ? SECOND / 8 : input.below(12) * SECOND);
        default -> {
          Link link = last();
          if (link != null && !link.closed) {
            loop.submit(() -> link.close("reset by peer"));
          }
        }
      }
    }

    private void ask() {
      Operation<?, ?> operation = NameNodeOperations.all().get(2 + input.below(24));
      if (operation != null) {
        ask(operation);
      }
    }

    private <Q, R> void ask(Operation<Q, R> operation) {
      byte[] bytes = hostile.make(operation.request().layout());
      ByteBuffer body = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      try {
        Q request = operation.request().decode(body, 0, bytes.length);
        Call<Q, R> call = new Call<>(operation);
        calls.add(call);
        call.prepare(client.route(operation, request), request, client.newDeadlineNanos());
        call.submit();
      } catch (CrailException e) {
        // A client never sends such a request.
      }
    }

    private Link last() {
      return loop.links.isEmpty() ? null : loop.links.get(loop.links.size() - 1);
    }

    private void event() {
      Link link = last();
      if (link == null || link.closed) {
        return;
      }
      if (!link.connected) {
        link.connected = true;
        loop.submit(() -> link.handler.connected(link));
        return;
      }
      if (link.ids.isEmpty()) {
        return;
      }
      int which = input.below(4) == 0 ? input.below(link.ids.size()) : link.ids.size() - 1;
      long id = input.below(8) == 0 ? hostile.number(8) : link.ids.get(which);
      int code = input.below(4) == 0 ? input.u16() : 0;
      byte[] body = body(link.opcodes.get(which), code);
      int length = Frame.HEADER_LENGTH + body.length;
      // In the middle of a buffer, as in production.
      ByteBuffer in = ByteBuffer.allocate(8 + length).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(in, 8, length, code, Frame.KIND_RESPONSE, id);
      in.put(8 + Frame.HEADER_LENGTH, body);
      loop.submit(() -> link.handler.received(in, 8, length));
    }

    private byte[] body(int opcode, int code) {
      if (code != 0 || input.below(8) == 0) {
        return input.take(input.u8());
      }
      if (opcode == NameNodeOperations.HELLO.number() && input.below(4) != 0) {
        Hello.Response hello =
            new Hello.Response(
                Frame.VERSION, 0, 1, 1 << 20, 4096, 512, true, 10_000, 1, 5, Utf8.of("crail"));
        ByteBuffer body =
            ByteBuffer.allocate(Hello.Response.CODEC.length(hello)).order(ByteOrder.LITTLE_ENDIAN);
        Hello.Response.CODEC.encode(hello, body, 0);
        return body.array();
      }
      return hostile.make(NameNodeOperations.all().get(opcode).response().layout());
    }
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    for (int seed = 0; seed < 4; seed++) {
      byte[] bytes = new byte[400];
      new Random(seed).nextBytes(bytes);
      // A call, a connection, and the right answer to its handshake.
      byte[] begin = {0, 1, 0, 0, 0, 0, 0, 0, 2, 2, 1, 1, 1, 1, 1, 1};
      System.arraycopy(begin, 0, bytes, 0, begin.length);
      seeds.add(bytes);
    }
    seeds.add("\0\1\2\2\2".getBytes(StandardCharsets.UTF_8));
    return seeds;
  }
}
