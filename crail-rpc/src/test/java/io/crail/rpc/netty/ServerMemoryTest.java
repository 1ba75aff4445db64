/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.CommitGate;
import io.crail.rpc.ConnectionScheduler;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.Transport;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.uring.IoUring;
import io.netty.util.LeakPresenceDetector;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the memory that a server holds for peers that do not read, do not complete a request, go
 * away, or ask for much.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("once")
class ServerMemoryTest {
  private static final InetSocketAddress ANY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  private static final long LONG = 60_000_000_000L;
  private static final long STANDS_NANOS = 200_000_000L;
  private static final int KIB = 1 << 10;
  private static final int MIB = 1 << 20;

  /** Answered with as many bytes as its first four say. */
  private static final int INFLATE = 1;

  /** Takes {@link #BUSY_NANOS} of a processor. */
  private static final int BUSY = 2;

  private static final long BUSY_NANOS = 200_000;

  /** Takes as long, and ends with an error that no service should throw. */
  private static final int BREAK = 3;

  @AfterEach
  void leakNothing() {
    LeakPresenceDetector.check();
  }

  /** Memory that runs out once. */
  private static final class ScantMemory extends AbstractByteBufAllocator {
    private final UnpooledByteBufAllocator memory = new UnpooledByteBufAllocator(true);
    private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    void failAfter(int allocations) {
      left.set(allocations);
    }

    boolean hasFailed() {
      return left.get() < 0;
    }

    long usedBytes() {
      return memory.metric().usedDirectMemory();
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
      if (left.getAndDecrement() == 0) {
        throw new OutOfMemoryError("as asked for");
      }
      return memory.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
      return memory.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }

  /** Obeys the transport's limits, as the namenode does. */
  private static final class Inflating implements Service {
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger busy = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();
    private final List<Integer> busyAtInflate = new ArrayList<>();
    private volatile Runnable beforeEach = () -> {};
    private volatile CommitGate gate = CommitGate.OPEN;

    @Override
    public CommitGate gate() {
      return gate;
    }

    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        if (batch.opcode(i) == BREAK) {
          responses.begin(4);
          throw new StackOverflowError("as asked for");
        }
        boolean isBusy = batch.opcode(i) == BUSY;
        if (responses.isFull() || (isBusy && !responses.hasTurn())) {
          batch.giveBackFrom(i);
          return;
        }
        beforeEach.run();
        if (isBusy) {
          spin(BUSY_NANOS);
          busy.incrementAndGet();
        } else {
          busyAtInflate.add(busy.get());
        }
        int length = batch.buffer().getInt(batch.bodyOffset(i));
        int body = responses.begin(length);
        if (length >= 4) {
          responses.buffer().putInt(body, served.get());
        }
        responses.end(batch.correlationId(i), length);
        served.incrementAndGet();
      }
    }

    @Override
    public void closed(Session session) {
      closed.incrementAndGet();
    }
  }

  /** A clock of which each reading takes a while, so that all timed work is done in small parts. */
  private static final class SlowClock implements Clock {
    static final int READINGS_OF_SLICE = 25;

    private final AtomicLong readings = new AtomicLong();

    @Override
    public long nanoTime() {
      return System.nanoTime()
          + readings.incrementAndGet() * (ConnectionScheduler.SLICE_NANOS / READINGS_OF_SLICE);
    }

    @Override
    public long currentTimeMillis() {
      return System.currentTimeMillis();
    }
  }

  private static final class Call extends RpcCall {
    Call(RpcPeer peer) {
      prepare(peer, peer.loop().clock().nanoTime() + LONG);
    }

    @Override
    protected int opcode() {
      return INFLATE;
    }

    @Override
    protected boolean changes() {
      return false;
    }

    @Override
    protected int bodyLength() {
      return 4;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putInt(offset, 100);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      assertEquals(100, length);
    }
  }

  private static Configuration.Builder values(NettyKeys.Io io) {
    return Configuration.builder()
        .set(NettyKeys.IO, io)
        .set(NettyKeys.CORES, 1)
        .set(NettyKeys.SEND_BUFFER, "64k");
  }

  private static List<NettyKeys.Io> ios() {
    return IoUring.isAvailable()
        ? List.of(NettyKeys.Io.AUTO, NettyKeys.Io.NIO, NettyKeys.Io.IO_URING)
        : List.of(NettyKeys.Io.AUTO, NettyKeys.Io.NIO);
  }

  private static byte[] requests(int opcode, int count, int answer) {
    return requests(opcode, 0, count, answer);
  }

  private static byte[] requests(int opcode, int first, int count, int answer) {
    int length = Frame.HEADER_LENGTH + 4;
    ByteBuffer all = ByteBuffer.allocate(count * length).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      Frame.write(all, i * length, length, opcode, Frame.KIND_REQUEST, first + i);
      all.putInt(i * length + Frame.HEADER_LENGTH, answer);
    }
    return all.array();
  }

  private static Socket open(Transport.ServerEndpoint server) throws IOException {
    Socket socket = new Socket();
    // Small on both sides, so that a few answers fill it.
    socket.setReceiveBufferSize(64 * KIB);
    socket.setSoTimeout(60_000);
    socket.connect(server.address());
    return socket;
  }

  /** Reads answers until the end; how many there were. */
  private static int readAnswers(Socket socket, int most) {
    int count = 0;
    try {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] header = new byte[Frame.HEADER_LENGTH];
      while (count < most) {
        in.readFully(header);
        ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(count, head.getLong(8), "answers in their order, none missing");
        in.readFully(new byte[head.getInt(0) - Frame.HEADER_LENGTH]);
        count++;
      }
    } catch (IOException e) {
      // The server has closed it.
    }
    return count;
  }

  private static void spin(long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
  }

  private static void until(String what, BooleanSupplier condition) throws Exception {
    long end = System.nanoTime() + LONG;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, what);
      Thread.sleep(1);
    }
  }

  private static long statistic(Transport.ServerEndpoint server, String name) {
    return server.statistics().get(name);
  }

  private static void roundTrip(ClientLoop loop, RpcPeer peer) throws Exception {
    Call call = new Call(peer);
    call.submit();
    assertTrue(loop.await(call, System.nanoTime() + LONG));
    assertEquals(null, call.failure());
  }

  @Test
  void survivesTheLossOfEachAllocationOfAServer() throws Exception {
    for (NettyKeys.Io io : ios()) {
      int failures = 0;
      boolean failed = true;
      while (failed) {
        ScantMemory memory = new ScantMemory();
        memory.failAfter(failures);
        serveScantly(io, memory);
        failed = memory.hasFailed() && failures < 1_000;
        failures++;
      }
      assertTrue(failures > 10, io + ": only " + failures + " allocations");
    }
  }

  private static void serveScantly(NettyKeys.Io io, ScantMemory memory) throws Exception {
    int count = 60;
    try (NettyTransport scant = new NettyTransport(values(io).build(), memory, Clock.SYSTEM);
        NettyTransport transport = new NettyTransport(values(io).build());
        Transport.ServerEndpoint server = scant.listen("test", ANY, new Inflating());
        ClientLoop loop = transport.newClientLoop("test")) {
      try (Socket slow = open(server)) {
        slow.getOutputStream().write(requests(INFLATE, count, 60_000));
        until(
            "answers that wait, or an end",
            () ->
                statistic(server, "held-bytes") > 3 * MIB / 2
                    || statistic(server, "ended-no-memory") > 0);
        int answers = readAnswers(slow, count);
        assertTrue(
            answers == count || statistic(server, "ended-no-memory") == 1, answers + " answers");
      }
      // Whatever has failed, the next one is served.
      RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
      roundTrip(loop, peer);
      until("the end of the slow one", () -> statistic(server, "connections") == 1);
      // With io_uring the end of the last write is known after the peer has the answer.
      until("nothing held", () -> statistic(server, "held-bytes") == 0);
      assertEquals(0, statistic(server, "ended-failed"), server.statistics()::toString);
    }
    assertEquals(0, memory.usedBytes(), "bytes that were not given back");
  }

  @Test
  void survivesTheLossOfEachAllocationOfAClient() throws Exception {
    for (NettyKeys.Io io : ios()) {
      int failures = 0;
      boolean failed = true;
      while (failed) {
        ScantMemory memory = new ScantMemory();
        try (NettyTransport transport = new NettyTransport(values(io).build());
            NettyTransport scant = new NettyTransport(values(io).build(), memory, Clock.SYSTEM);
            Transport.ServerEndpoint server = transport.listen("test", ANY, new Inflating());
            ClientLoop loop = scant.newClientLoop("test")) {
          memory.failAfter(failures);
          RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
          for (int i = 0; i < 3; i++) {
            roundTrip(loop, peer);
          }
          assertEquals(0, loop.outstanding());
        }
        assertEquals(0, memory.usedBytes(), "bytes that were not given back");
        failed = memory.hasFailed() && failures < 1_000;
        failures++;
      }
      assertTrue(failures >= 2, io + ": only " + failures + " allocations");
    }
  }

  @Test
  void holdsNoMoreThanItsLimitForOneThatDoesNotRead() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      Configuration configuration = values(io).set(NettyKeys.OUTPUT_LIMIT, "1m").build();
      try (NettyTransport transport = new NettyTransport(configuration);
          Transport.ServerEndpoint server = transport.listen("test", ANY, service);
          Socket silent = open(server)) {
        int count = 400;
        silent.getOutputStream().write(requests(INFLATE, count, 60_000));
        until("a full output", () -> statistic(server, "held-bytes") >= MIB / 2);
        stands(service.served);
        assertTrue(service.served.get() < count / 2, io + ": served " + service.served);
        long held = statistic(server, "peak-held-bytes");
        assertTrue(held <= MIB + 64 * KIB, io + ": held " + held);
        assertEquals(count, readAnswers(silent, count));
        until("nothing held", () -> statistic(server, "held-bytes") == 0);
        long waited = statistic(server, ConnectionScheduler.WAITED);
        assertTrue(waited >= STANDS_NANOS, io + ": waited " + waited + " ns");
      }
    }
  }

  /** Waits until a number has not changed for a while. */
  private static void stands(AtomicInteger number) throws Exception {
    long[] since = {System.nanoTime(), number.get()};
    until(
        "an end of service",
        () -> {
          if (number.get() != since[1]) {
            since[0] = System.nanoTime();
            since[1] = number.get();
          }
          return System.nanoTime() - since[0] > STANDS_NANOS;
        });
  }

  /** Reached once it is opened. */
  private static final class Barrier implements CommitGate {
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean isOpen;

    void open() {
      isOpen = true;
      letPass();
    }

    private void letPass() {
      for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
        next.run();
      }
    }

    @Override
    public long position() {
      return 1;
    }

    @Override
    public long reached() {
      return isOpen ? 1 : 0;
    }

    @Override
    public boolean hasFailed() {
      return false;
    }

    @Override
    public void whenReached(long position, Runnable action) {
      waiting.add(action);
      if (isOpen) {
        letPass();
      }
    }
  }

  /** Their peers take everything, but a disk is slow. */
  @Test
  void endsNoConnectionThatOnlyWaitsForCommits() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      Barrier barrier = new Barrier();
      service.gate = barrier;
      Configuration configuration = values(io).set(NettyKeys.HELD_LIMIT, "8m").build();
      List<Socket> sockets = new ArrayList<>();
      try (NettyTransport transport = new NettyTransport(configuration);
          Transport.ServerEndpoint server = transport.listen("test", ANY, service)) {
        for (int i = 0; i < 200; i++) {
          Socket socket = open(server);
          sockets.add(socket);
          socket.getOutputStream().write(requests(INFLATE, 2, 100));
          int served = 2 * (i + 1);
          until("it is served", () -> service.served.get() == served);
        }
        Map<String, Long> statistics = server.statistics();
        assertEquals(200, statistics.get("connections"), statistics::toString);
        assertTrue(statistics.get("peak-held-bytes") < 2 * MIB, statistics::toString);
        barrier.open();
        for (Socket socket : sockets) {
          assertEquals(2, readAnswers(socket, 2));
        }
        until("nothing held", () -> statistic(server, "held-bytes") == 0);
      } finally {
        for (Socket socket : sockets) {
          socket.close();
        }
      }
    }
  }

  @Test
  void holdsNoMoreThanItsLimitForAll() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      Configuration configuration = values(io).set(NettyKeys.HELD_LIMIT, "8m").build();
      List<Socket> silent = new ArrayList<>();
      try (NettyTransport transport = new NettyTransport(configuration);
          Transport.ServerEndpoint server = transport.listen("test", ANY, service);
          ClientLoop loop = transport.newClientLoop("test")) {
        RpcPeer peer = new RpcPeer(loop, server.address(), Call::new, RpcPeer.Options.defaults());
        roundTrip(loop, peer);
        for (int i = 0; i < 100; i++) {
          Socket socket = open(server);
          silent.add(socket);
          socket.getOutputStream().write(requests(INFLATE, 100, 60_000));
          roundTrip(loop, peer);
        }
        until("an end of the silent", () -> statistic(server, "held-bytes") <= 4 * MIB);
        until("an end for silence", () -> statistic(server, "ended-takes-no-answers") > 0);
        roundTrip(loop, peer);
        for (Socket socket : silent) {
          socket.close();
        }
        until("the end of all", () -> statistic(server, "connections") == 1);
        Map<String, Long> statistics = server.statistics();
        assertTrue(statistics.get("peak-held-bytes") <= 8 * MIB + 512 * KIB, statistics::toString);
        assertTrue(statistics.get("ended-holds-memory") > 0, statistics::toString);
        assertTrue(statistics.get("ended-takes-no-answers") > 0, statistics::toString);
        assertEquals(0, statistics.get("held-bytes"), statistics::toString);
      } finally {
        for (Socket socket : silent) {
          socket.close();
        }
      }
    }
  }

  @Test
  void holdsNothingForTheIdle() throws Exception {
    ScantMemory memory = new ScantMemory();
    List<Socket> idle = new ArrayList<>();
    try (NettyTransport transport =
            new NettyTransport(values(NettyKeys.Io.AUTO).build(), memory, Clock.SYSTEM);
        Transport.ServerEndpoint server = transport.listen("test", ANY, new Inflating())) {
      for (int i = 0; i < 200; i++) {
        Socket socket = open(server);
        idle.add(socket);
        socket.getOutputStream().write(requests(INFLATE, 1, 100));
        assertEquals(1, readAnswers(socket, 1));
      }
      assertEquals(0, statistic(server, "held-bytes"));
      assertTrue(memory.usedBytes() <= MIB, memory.usedBytes() + " bytes");
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  @Test
  void looksAtOthersBetweenRequestsThatTakeLong() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      try (NettyTransport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, service);
          Socket first = open(server);
          Socket second = open(server);
          Socket honest = open(server)) {
        first.getOutputStream().write(requests(BUSY, 2_000, 4));
        second.getOutputStream().write(requests(BUSY, 2_000, 4));
        while (service.busy.get() < 1_000) {
          honest.getOutputStream().write(requests(INFLATE, 1, 4));
          assertEquals(1, readAnswers(honest, 1));
        }
        List<Integer> gaps = new ArrayList<>();
        for (int i = 1; i < service.busyAtInflate.size(); i++) {
          int gap = service.busyAtInflate.get(i) - service.busyAtInflate.get(i - 1);
          if (gap > 0) {
            gaps.add(gap);
          }
        }
        Collections.sort(gaps);
        // A slice is two or three of them; more when this thread gets no processor.
        assertTrue(gaps.get(gaps.size() / 2) <= 10, io + ": " + gaps);
        assertEquals(2_000, readAnswers(first, 2_000));
        assertEquals(2_000, readAnswers(second, 2_000));
      }
    }
  }

  @Test
  void servesFirstWhoHadTheLeastTime() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      List<Socket> flood = new ArrayList<>();
      try (NettyTransport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, service);
          Socket honest = open(server)) {
        for (int i = 0; i < 100; i++) {
          flood.add(open(server));
          flood.get(i).getOutputStream().write(requests(BUSY, 0, 200, 4));
        }
        List<Integer> gaps = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
          // A round of all is 200 to 300 of them: meanwhile all others have their turn.
          int next = service.busy.get() + 600;
          until("more than a round", () -> service.busy.get() >= next);
          int before = service.busy.get();
          honest.getOutputStream().write(requests(BUSY, 0, 1, 4));
          assertEquals(1, readAnswers(honest, 1));
          gaps.add(service.busy.get() - before);
        }
        Collections.sort(gaps);
        assertTrue(service.busy.get() < 100 * 200, io + ": the flood has ended");
        // A few; more when this thread gets no processor.
        assertTrue(gaps.get(gaps.size() / 2) <= 100, io + ": " + gaps);
      } finally {
        for (Socket socket : flood) {
          socket.close();
        }
      }
    }
  }

  @Test
  void servesBetweenTheEndsOfMany() throws Exception {
    int many = 600;
    List<Socket> mute = new ArrayList<>();
    List<Long> ended = new ArrayList<>();
    Inflating service = new Inflating();
    Configuration configuration =
        values(NettyKeys.Io.AUTO).set(NettyKeys.HANDSHAKE_TIMEOUT, "1s").build();
    try (NettyTransport transport =
            new NettyTransport(configuration, UnpooledByteBufAllocator.DEFAULT, new SlowClock());
        Transport.ServerEndpoint server = transport.listen("test", ANY, service);
        Socket honest = open(server)) {
      honest.getOutputStream().write(requests(INFLATE, 0, 1, 4));
      assertEquals(1, readAnswers(honest, 1));
      // They need no turn of their own. Each takes so long that a sweep of all lasts longer than a
      // quarter of the deadline, after which the next one is due.
      service.beforeEach =
          () -> {
            long statistic = statistic(server, "ended-no-handshake");
            ended.add(statistic);
            if (statistic > 0) {
              spin(5 * BUSY_NANOS);
            }
          };
      for (int i = 0; i < many; i++) {
        mute.add(open(server));
      }
      // So many always wait that the server has some to serve in each turn, whoever gets a
      // processor.
      int asked = 3_000;
      honest.getOutputStream().write(requests(INFLATE, 0, asked, 4));
      while (statistic(server, "ended-no-handshake") < many) {
        honest.getInputStream().skipNBytes(10 * (Frame.HEADER_LENGTH + 4));
        honest.getOutputStream().write(requests(INFLATE, asked, 10, 4));
        asked += 10;
      }
    } finally {
      for (Socket socket : mute) {
        socket.close();
      }
    }
    assertTrue(ended.get(0) < many / 2, ended.get(0) + " were ended before others were served");
    long most = 0;
    for (int i = 1; i < ended.size(); i++) {
      most = Math.max(most, ended.get(i) - ended.get(i - 1));
    }
    assertTrue(most <= SlowClock.READINGS_OF_SLICE, most + " were ended at once");
  }

  @Test
  void servesEachRequestOnceWhileMoreArrive() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      int count = 2_000;
      int piece = 7;
      try (NettyTransport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, service);
          Socket client = open(server)) {
        for (int sent = 0; sent < count; sent += piece) {
          // Some always wait for their turn, and are moved on while others arrive.
          int enough = sent - 100;
          until("service", () -> service.busy.get() >= enough);
          client.getOutputStream().write(requests(BUSY, sent, Math.min(piece, count - sent), 4));
        }
        assertEquals(count, readAnswers(client, count), io::toString);
        stands(service.busy);
        assertEquals(count, service.busy.get(), io::toString);
        assertEquals(0, statistic(server, "ended-protocol"), io::toString);
      }
    }
  }

  @Test
  void endsAConnectionWhoseServiceBreaks() throws Exception {
    for (NettyKeys.Io io : ios()) {
      ScantMemory memory = new ScantMemory();
      try (NettyTransport transport = new NettyTransport(values(io).build(), memory, Clock.SYSTEM);
          Transport.ServerEndpoint server = transport.listen("test", ANY, new Inflating())) {
        // The first breaks as it comes; the second one after others, in its turn of the queue.
        for (int before : new int[] {0, 50}) {
          try (Socket client = open(server)) {
            client.getOutputStream().write(requests(BUSY, 0, before, 4));
            client.getOutputStream().write(requests(BREAK, before, 1, 4));
            assertTrue(readAnswers(client, before + 1) <= before);
            until("its end", () -> statistic(server, "connections") == 0);
          }
        }
        assertEquals(2, statistic(server, "ended-failed"), io::toString);
        assertEquals(0, statistic(server, "held-bytes"), io::toString);
      }
      assertEquals(0, memory.usedBytes(), io + ": bytes that were not given back");
    }
  }

  @Test
  void keepsLittleThatIsIdle() throws Exception {
    ScantMemory memory = new ScantMemory();
    Configuration configuration = values(NettyKeys.Io.AUTO).set(NettyKeys.HELD_LIMIT, "2m").build();
    List<Socket> slow = new ArrayList<>();
    try (NettyTransport transport = new NettyTransport(configuration, memory, Clock.SYSTEM);
        Transport.ServerEndpoint server = transport.listen("test", ANY, new Inflating())) {
      for (int i = 0; i < 20; i++) {
        Socket socket = open(server);
        slow.add(socket);
        socket.getOutputStream().write(requests(INFLATE, 100, 60_000));
      }
      until("much that is held", () -> statistic(server, "peak-held-bytes") > MIB);
      for (Socket socket : slow) {
        socket.close();
      }
      until("the end of all", () -> statistic(server, "connections") == 0);
      assertTrue(memory.usedBytes() <= MIB / 2, memory.usedBytes() + " bytes");
    } finally {
      for (Socket socket : slow) {
        socket.close();
      }
    }
  }

  @Test
  void servesNoClosedConnection() throws Exception {
    for (NettyKeys.Io io : ios()) {
      Inflating service = new Inflating();
      try (NettyTransport transport = new NettyTransport(values(io).build());
          Transport.ServerEndpoint server = transport.listen("test", ANY, service)) {
        try (Socket leaving = open(server)) {
          leaving.getOutputStream().write(requests(BUSY, 3_000, 4));
          until("some service", () -> service.busy.get() > 2);
          leaving.setSoLinger(true, 0);
        }
        until("its end", () -> service.closed.get() == 1);
        int served = service.busy.get();
        assertTrue(served < 3_000, io + ": all were served");
        stands(service.busy);
        assertTrue(service.busy.get() <= served + 1, io + ": served after the end");
      }
    }
  }
}
