/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Completion;
import io.crail.rpc.Connection;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every {@link Transport} and the engine above it promise: whole frames in order, typed ends
 * for every call, and nobody else's damage. A subclass says how to make a transport.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
public abstract class TransportContract {
  /** A timeout that is not expected to pass. */
  protected static final long LONG = 60_000_000_000L;

  private static final long SHORT = 100_000_000L;

  private final List<AutoCloseable> resources = new ArrayList<>();
  private Transport transport;
  private EchoService service;

  /** For subclasses. */
  protected TransportContract() {}

  /** The transport of the client side, made before each test. */
  protected abstract Transport newTransport();

  /** The transport of the server side; the client's where there is no difference. */
  protected Transport serverTransport(Transport clients) {
    return clients;
  }

  /** An address on which any free port may be taken. */
  protected abstract InetSocketAddress anyAddress();

  /** False when everything has to happen in one thread. */
  protected boolean isThreaded() {
    return true;
  }

  /** Most bytes that a call may allocate on both sides together. */
  protected int bytesOfCall() {
    return 0;
  }

  /** Lets a millisecond pass. */
  protected void pass() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Keeps answers from coming; connections stay. */
  protected void holdAnswers() {
    service.stall();
  }

  /** Lets answers come again, those held back included. */
  protected void releaseAnswers() {
    service.resume();
  }

  @BeforeEach
  final void open() {
    transport = newTransport();
    service = new EchoService();
  }

  @AfterEach
  final void closeAll() throws Exception {
    service.resume();
    for (int i = resources.size() - 1; i >= 0; i--) {
      resources.get(i).close();
    }
    resources.clear();
    transport.close();
  }

  // Helpers, also for subclasses.

  /** The service behind {@link #newServer()}. */
  final EchoService service() {
    return service;
  }

  /** A server on any port. */
  protected final Transport.ServerEndpoint newServer() throws IOException {
    return newServer(anyAddress());
  }

  /** A server on an address. */
  protected final Transport.ServerEndpoint newServer(InetSocketAddress address) throws IOException {
    Transport.ServerEndpoint server =
        serverTransport(transport).listen("contract", address, service);
    resources.add(server);
    return server;
  }

  /** A loop that the test closes, at the latest. */
  protected final ClientLoop newLoop() {
    ClientLoop loop = transport.newClientLoop("contract");
    resources.add(loop);
    return loop;
  }

  /** A peer with limits that let tests be quick. */
  protected final RpcPeer newPeer(ClientLoop loop, Transport.ServerEndpoint server) {
    return newPeer(loop, server.address());
  }

  /** A peer with limits that let tests be quick. */
  protected final RpcPeer newPeer(ClientLoop loop, InetSocketAddress address) {
    return newPeer(loop, address, new RpcPeer.Options(64, 100_000, 12, LONG / 4, 5_000_000));
  }

  /** A peer. */
  protected final RpcPeer newPeer(
      ClientLoop loop, InetSocketAddress address, RpcPeer.Options options) {
    return new RpcPeer(
        loop, address, to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG / 4), options);
  }

  /** Waits for a call that must succeed. */
  static EchoCall succeed(EchoCall call) throws InterruptedException {
    assertTrue(await(call), "no end of the call");
    assertNull(call.failure());
    return call;
  }

  /** Waits for a call that must fail. */
  static void failWith(ErrorCode code, EchoCall call) throws InterruptedException {
    assertTrue(await(call), "no end of the call");
    assertNotNull(call.failure(), "the call must fail");
    assertEquals(code, call.failure().code(), call.failure().getMessage());
  }

  private static boolean await(EchoCall call) throws InterruptedException {
    ClientLoop loop = call.peer().loop();
    return loop.await(call, loop.clock().nanoTime() + LONG);
  }

  /** Echoes some bytes. */
  static void echo(RpcPeer peer, int length) throws InterruptedException {
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(length), LONG);
    call.submit();
    assertArrayEquals(call.request(), succeed(call).answer());
  }

  /** Waits for a condition. */
  protected final void eventually(String what, BooleanSupplier condition) {
    for (int i = 0; i < 60_000; i++) {
      if (condition.getAsBoolean()) {
        return;
      }
      pass();
    }
    fail("not within time: " + what);
  }

  /** Bytes that differ from place to place. */
  static byte[] pattern(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + length);
    }
    return bytes;
  }

  private static byte[] number(long value) {
    byte[] bytes = new byte[16];
    ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN).putLong(value);
    return bytes;
  }

  /** Takes part in no test: any number of threads that each do the same. */
  private static void inThreads(int count, Callable<Void> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      List<Future<Void>> futures = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        futures.add(threads.submit(work));
      }
      for (Future<Void> future : futures) {
        future.get(120, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  // Frames.

  @Test
  void carriesFramesOfAllSizes() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    for (int length = 0; length < 40; length++) {
      echo(peer, length);
    }
    for (int power = 64; power < Frame.MAX_BODY_LENGTH; power *= 2) {
      echo(peer, power - 1);
      echo(peer, power);
      echo(peer, power + 1);
    }
    echo(peer, Frame.MAX_BODY_LENGTH - 1);
    echo(peer, Frame.MAX_BODY_LENGTH);
  }

  @Test
  void carriesManyLargeFramesAtOnce() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      int length = Frame.MAX_BODY_LENGTH - i * 97;
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(length), LONG);
      call.submit();
      calls.add(call);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
  }

  @Test
  void keepsTheOrderOfOneThread() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    List<EchoCall> calls = new ArrayList<>();
    List<Long> sent = new ArrayList<>();
    for (long i = 0; i < 5_000; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, number(i), LONG);
      call.submit();
      calls.add(call);
      sent.add(i);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
    assertEquals(sent, List.copyOf(service.numbers()));
    assertEquals(0, peer.loop().outstanding());
  }

  @Test
  void servesSeveralLoopsAndPeers() throws Exception {
    Transport.ServerEndpoint one = newServer();
    Transport.ServerEndpoint two = newServer();
    List<RpcPeer> peers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      ClientLoop loop = newLoop();
      peers.add(newPeer(loop, one));
      peers.add(newPeer(loop, two));
    }
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      EchoCall call = EchoCall.of(peers.get(i % peers.size()), EchoService.ECHO, pattern(i), LONG);
      call.submit();
      calls.add(call);
    }
    for (EchoCall call : calls) {
      assertArrayEquals(call.request(), succeed(call).answer());
    }
    assertEquals(8, service.opened());
  }

  @Test
  void servesOthersBetweenRequestsThatTakeLong() throws Exception {
    assumeTrue(isThreaded(), "without a time that passes, nothing takes long");
    Transport.ServerEndpoint server = newServer();
    RpcPeer honest = newPeer(newLoop(), server);
    echo(honest, 1);
    AtomicInteger between = new AtomicInteger();
    AtomicInteger floods = new AtomicInteger();
    inThreads(
        5,
        () -> {
          int mine = floods.getAndIncrement();
          if (mine < 4) {
            try {
              labour(newPeer(transport.newClientLoop("contract"), server), 300);
            } finally {
              floods.addAndGet(100);
            }
          } else {
            while (floods.get() < 400) {
              echo(honest, 100);
              between.incrementAndGet();
            }
          }
          return null;
        });
    assertTrue(between.get() > 10, between + " echoes");
    assertTrue(service.mostLabour() <= 4, service.mostLabour() + " at once");
  }

  /** Has many requests for work served. */
  private static void labour(RpcPeer peer, int count) throws Exception {
    try {
      List<EchoCall> calls = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        // Some are longer than a message of DaRPC, and are put together before they wait.
        int length = i % 10 == 0 ? 10_000 : 7 * i;
        EchoCall call = EchoCall.of(peer, EchoService.LABOUR, pattern(length), LONG);
        call.submit();
        calls.add(call);
      }
      for (EchoCall call : calls) {
        assertArrayEquals(call.request(), succeed(call).answer());
      }
    } finally {
      peer.loop().close();
    }
  }

  @Test
  void letsManyThreadsShareALoop() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger seed = new AtomicInteger();
    inThreads(
        12,
        () -> {
          int mine = seed.incrementAndGet();
          for (int i = 0; i < 400; i++) {
            EchoCall[] calls = new EchoCall[1 + (mine + i) % 5];
            for (int c = 0; c < calls.length; c++) {
              calls[c] = EchoCall.of(peer, EchoService.ECHO, number(mine * 1_000_000L + i), LONG);
              calls[c].submit();
            }
            for (EchoCall call : calls) {
              assertArrayEquals(call.request(), succeed(call).answer());
            }
          }
          return null;
        });
    assertEquals(0, peer.loop().outstanding());
    assertEquals(1, service.opened());
  }

  @Test
  void reusesCalls() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(20), LONG);
    for (int i = 0; i < 2_000; i++) {
      call.again(LONG).submit();
      assertArrayEquals(call.request(), succeed(call).answer());
    }
  }

  @Test
  void callsAllocateNothing() throws Exception {
    assumeTrue(isThreaded(), "a simulation may allocate");
    RpcPeer peer = newPeer(newLoop(), newServer());
    LeanCall[] calls = new LeanCall[64];
    for (int i = 0; i < calls.length; i++) {
      calls[i] = new LeanCall();
    }
    AllocationCount.assertAtMost(
        "a call, 64 in flight",
        50 * calls.length,
        bytesOfCall(),
        () -> {
          for (int i = 0; i < 50; i++) {
            for (LeanCall call : calls) {
              call.begin(peer);
            }
            for (LeanCall call : calls) {
              call.end();
            }
          }
        });
    AllocationCount.assertAtMost(
        "a call alone",
        400,
        bytesOfCall(),
        () -> {
          for (int i = 0; i < 400; i++) {
            calls[0].begin(peer);
            calls[0].end();
          }
        });
  }

  /** A call without objects, whose answer is longer than its request. */
  private static final class LeanCall extends RpcCall {
    private static final int ANSWER_BYTES = 96;

    void begin(RpcPeer peer) {
      prepare(peer, peer.loop().clock().nanoTime() + LONG);
      submit();
    }

    void end() throws InterruptedException {
      if (!peer().loop().await(this, deadlineNanos()) || isFailed()) {
        throw new AssertionError(failure());
      }
    }

    @Override
    protected int opcode() {
      return EchoService.INFLATE;
    }

    @Override
    protected boolean isIdempotent() {
      return true;
    }

    @Override
    protected int bodyLength() {
      return Integer.BYTES;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putInt(offset, ANSWER_BYTES);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) throws CrailException {
      if (length != ANSWER_BYTES) {
        throw ErrorCode.PROTOCOL.exception("an answer of " + length + " bytes");
      }
    }
  }

  @Test
  void endsCallsThatNobodyWaitsFor() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger ended = new AtomicInteger();
    for (int i = 0; i < 10; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(i), LONG);
      call.whenComplete(ended::incrementAndGet);
      call.submit();
    }
    eventually("ten callbacks", () -> ended.get() == 10);
  }

  @Test
  void letsCallbacksSubmit() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    AtomicInteger ended = new AtomicInteger();
    AtomicReference<Runnable> submit = new AtomicReference<>();
    submit.set(
        () -> {
          EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(8), LONG);
          call.whenComplete(
              () -> {
                if (ended.incrementAndGet() < 200) {
                  submit.get().run();
                }
              });
          call.submit();
        });
    submit.get().run();
    eventually("a chain of 200", () -> ended.get() == 200);
  }

  // Limits.

  @Test
  void refusesARequestThatIsTooLong() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, new byte[Frame.MAX_BODY_LENGTH + 1], LONG);
    call.submit();
    failWith(ErrorCode.LIMIT_EXCEEDED, call);
    echo(peer, 10);
  }

  @Test
  void refusesMoreThanItMayQueue() throws Exception {
    RpcPeer.Options options = new RpcPeer.Options(2, 3, 3, LONG, 1_000_000);
    RpcPeer peer = newPeer(newLoop(), newServer().address(), options);
    echo(peer, 10);
    holdAnswers();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(i), LONG);
      call.submit();
      calls.add(call);
    }
    failWith(ErrorCode.LIMIT_EXCEEDED, calls.remove(5));
    releaseAnswers();
    for (EchoCall call : calls) {
      succeed(call);
    }
  }

  @Test
  void pushesBackWhenThePeerDoesNotRead() throws Exception {
    ClientLoop loop = newLoop();
    Transport.ServerEndpoint server = newServer();
    Flood flood = new Flood();
    loop.submit(
        () -> loop.connector().connect(server.address(), loop.clock().nanoTime() + LONG, flood));
    drive(loop, "a connection", () -> flood.connection != null);
    holdAnswers();
    loop.submit(flood::send);
    drive(loop, "back-pressure", () -> flood.refusals > 0);
    int sentBefore = flood.sent;
    assertTrue(sentBefore * (long) Flood.LENGTH < 64 << 20, "unbounded: " + sentBefore);
    releaseAnswers();
    drive(loop, "all answers", () -> flood.received >= flood.goal());
    assertTrue(flood.sent > sentBefore, "must go on when the peer reads again");
    assertNull(flood.trouble);
    loop.submit(() -> flood.connection.close("done"));
    drive(loop, "the end", () -> flood.closed);
  }

  /** Keeps a loop going until a condition holds. */
  private void drive(ClientLoop loop, String what, BooleanSupplier condition) {
    loop.operationBegun();
    try {
      eventually(what, condition);
    } finally {
      loop.operationEnded();
    }
  }

  /** Sends as long as there is room, some frames more than fit after that, and checks answers. */
  private static final class Flood implements Connection.Handler {
    static final int LENGTH = 50_000;
    private static final int MORE = 100;

    volatile int refusals;
    volatile int sent;
    volatile int received;
    volatile boolean closed;
    volatile String trouble;
    volatile Connection connection;
    private int firstRefusalAt = -1;

    int goal() {
      return firstRefusalAt + MORE;
    }

    @Override
    public void connected(Connection newConnection) {
      connection = newConnection;
    }

    private void send() {
      while (firstRefusalAt < 0 || sent < goal()) {
        int offset = connection.reserve(LENGTH);
        if (offset < 0) {
          refusals++;
          firstRefusalAt = firstRefusalAt < 0 ? sent : firstRefusalAt;
          break;
        }
        ByteBuffer out = connection.output();
        Frame.write(out, offset, LENGTH, EchoService.ECHO, Frame.KIND_REQUEST, sent);
        out.putLong(offset + LENGTH - Long.BYTES, sent);
        connection.commit(LENGTH);
        sent++;
      }
      connection.flush();
    }

    @Override
    public void received(ByteBuffer buffer, int offset, int frameLength) {
      long id = Frame.correlationId(buffer, offset);
      if (frameLength != LENGTH
          || id != received
          || buffer.getLong(offset + LENGTH - Long.BYTES) != id) {
        trouble = "answer " + received + " is " + id + " of " + frameLength + " bytes";
      }
      received++;
    }

    @Override
    public void writable() {
      send();
    }

    @Override
    public void closed(String cause) {
      closed = true;
    }
  }

  // Failures of one call.

  @Test
  void carriesErrors() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.REFUSE, "/a/b".getBytes(), LONG);
    call.submit();
    failWith(ErrorCode.NODE_NOT_FOUND, call);
    assertEquals("/a/b", call.failure().detail());
    echo(peer, 10);
  }

  @Test
  void endsACallAtItsDeadline() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    echo(peer, 10);
    long start = peer.loop().clock().nanoTime();
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, pattern(4), SHORT);
    call.submit();
    failWith(ErrorCode.TIMED_OUT, call);
    long took = peer.loop().clock().nanoTime() - start;
    assertTrue(took >= SHORT, "too early: " + took);
    assertTrue(took < SHORT + LONG, "too late: " + took);
    echo(peer, 10);
  }

  @Test
  void endsACallAtItsDeadlineThoughNobodyWaits() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, pattern(4), SHORT);
    call.submit();
    eventually("the end of the call", call::isComplete);
    failWith(ErrorCode.TIMED_OUT, call);
  }

  @Test
  void ignoresLateAnswers() throws Exception {
    RpcPeer.Options options = new RpcPeer.Options(1, 100, 3, LONG, 1_000_000);
    RpcPeer peer = newPeer(newLoop(), newServer().address(), options);
    echo(peer, 10);
    holdAnswers();
    EchoCall late = EchoCall.of(peer, EchoService.ECHO, number(1), SHORT);
    late.submit();
    failWith(ErrorCode.TIMED_OUT, late);
    // It gets the only slot, that of the late one.
    EchoCall next = EchoCall.of(peer, EchoService.ECHO, number(2), LONG);
    next.submit();
    releaseAnswers();
    assertArrayEquals(number(2), succeed(next).answer());
    assertNull(late.answer());
    echo(peer, 10);
  }

  @Test
  void endsTheConnectionOfAMalformedAnswer() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.TRUNCATE, pattern(100), LONG);
    call.submit();
    failWith(ErrorCode.PROTOCOL, call);
    echo(peer, 10);
    assertEquals(2, service.opened());
  }

  @Test
  void survivesAFaultyCallback() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall faulty = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    faulty.whenComplete(
        () -> {
          throw new IllegalStateException("a faulty callback, as asked for");
        });
    faulty.submit();
    EchoCall other = EchoCall.of(peer, EchoService.ECHO, pattern(5), LONG);
    other.submit();
    succeed(other);
    succeed(faulty);
    assertEquals(1, service.opened());
  }

  @Test
  void refusesToWaitInACallback() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall never = EchoCall.of(peer, EchoService.IGNORE, pattern(4), LONG);
    never.submit();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.whenComplete(
        () -> thrown.set(assertThrows(IllegalStateException.class, () -> await(never))));
    call.submit();
    succeed(call);
    eventually("the callback", () -> thrown.get() != null);
  }

  // Failures of one connection.

  @Test
  void servesOthersBesideABreachOfTheProtocol() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer good = newPeer(newLoop(), server);
    echo(good, 10);
    for (int opcode : new int[] {EchoService.BREACH, EchoService.BUG, 4711}) {
      RpcPeer bad = newPeer(newLoop(), server);
      EchoCall call = EchoCall.once(bad, opcode, pattern(4), LONG);
      call.submit();
      failWith(ErrorCode.UNAVAILABLE, call);
      echo(good, 100);
      echo(bad, 10);
    }
    int opened = service.opened();
    assertEquals(7, opened, "the good connection stays, each bad one is made twice");
    eventually("the ends of the bad ones", () -> service.closed() == 3);
  }

  @Test
  void tellsTheServiceOfEachEndOnce() throws Exception {
    Transport.ServerEndpoint server = newServer();
    for (int i = 0; i < 5; i++) {
      ClientLoop loop = newLoop();
      RpcPeer peer = newPeer(loop, server);
      echo(peer, 10);
      loop.submit(peer::close);
      EchoCall afterwards = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
      afterwards.submit();
      failWith(ErrorCode.CLOSED, afterwards);
    }
    eventually("five ends", () -> service.closed() == 5);
    for (int i = 0; i < 20; i++) {
      pass();
    }
    assertEquals(5, service.closed());
  }

  @Test
  void reportsARefusedConnection() throws Exception {
    Transport.ServerEndpoint server = newServer();
    InetSocketAddress address = server.address();
    server.close();
    ClientLoop loop = newLoop();
    RpcPeer peer = newPeer(loop, address, new RpcPeer.Options(8, 100, 3, LONG / 4, 5_000_000));
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.submit();
    failWith(ErrorCode.UNAVAILABLE, call);
    assertTrue(
        call.failure().getMessage().contains(String.valueOf(address.getPort())),
        call.failure().getMessage());
    EchoCall again = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    again.submit();
    failWith(ErrorCode.UNAVAILABLE, again);
  }

  @Test
  void reportsARefusedHandshake() throws Exception {
    service.refuseHandshakes(ErrorCode.INVALID_ARGUMENT);
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, pattern(4), LONG);
    call.submit();
    failWith(ErrorCode.INVALID_ARGUMENT, call);
    service.refuseHandshakes(null);
    echo(peer, 10);
  }

  @Test
  void retriesWhatMayBeRetriedWhenTheServerRestarts() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    echo(peer, 10);
    List<EchoCall> retried = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      retried.add(EchoCall.of(peer, EchoService.IGNORE, number(i), LONG));
    }
    EchoCall once = EchoCall.once(peer, EchoService.IGNORE, number(99), LONG);
    retried.forEach(EchoCall::submit);
    once.submit();
    drive(peer.loop(), "all requests", () -> service.served() >= 13);
    server.close();
    failWith(ErrorCode.UNAVAILABLE, once);
    service = new EchoService();
    newServer(server.address());
    drive(peer.loop(), "the retries", () -> service.served() >= 11);
    retried.forEach(call -> assertFalse(call.isComplete()));
    echo(peer, 10);
  }

  @Test
  void doesNotEntrustARequestToADeadConnection() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(newLoop(), server);
    for (int i = 0; i < 3; i++) {
      echo(peer, 10);
      server.close();
      server = newServer(server.address());
      for (int p = 0; p < 10; p++) {
        pass();
      }
      // Not to be sent twice, so it would fail on the old connection.
      EchoCall call = EchoCall.once(peer, EchoService.ECHO, pattern(9), LONG);
      call.submit();
      succeed(call);
    }
  }

  @Test
  void failsWhatIsQueuedForAServerThatStaysAway() throws Exception {
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer =
        newPeer(newLoop(), server.address(), new RpcPeer.Options(4, 100, 3, LONG / 4, 5_000_000));
    echo(peer, 10);
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(i), LONG);
      call.submit();
      calls.add(call);
    }
    server.close();
    for (EchoCall call : calls) {
      failWith(ErrorCode.UNAVAILABLE, call);
    }
    assertEquals(0, peer.loop().outstanding());
  }

  // Ends.

  @Test
  void namesTheAddressThatIsTaken() throws Exception {
    Transport.ServerEndpoint server = newServer();
    IOException taken = assertThrows(IOException.class, () -> newServer(server.address()));
    assertTrue(
        taken.getMessage().contains(String.valueOf(server.address().getPort())),
        taken.getMessage());
    echo(newPeer(newLoop(), server), 10);
  }

  @Test
  void failsOutstandingCallsWhenTheLoopIsClosed() throws Exception {
    ClientLoop loop = newLoop();
    Transport.ServerEndpoint server = newServer();
    RpcPeer peer = newPeer(loop, server);
    RpcPeer unreached = newPeer(loop, server);
    echo(peer, 10);
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      EchoCall call =
          EchoCall.of(i % 2 == 0 ? peer : unreached, EchoService.IGNORE, number(i), LONG);
      call.submit();
      calls.add(call);
    }
    loop.close();
    for (EchoCall call : calls) {
      assertTrue(call.isComplete());
      assertEquals(ErrorCode.CLOSED, call.failure().code());
    }
    EchoCall afterwards = EchoCall.of(peer, EchoService.ECHO, number(1), LONG);
    afterwards.submit();
    failWith(ErrorCode.CLOSED, afterwards);
    assertEquals(0, loop.outstanding());
    loop.close();
  }

  @Test
  void freesWaitingThreadsWhenTheLoopIsClosed() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    ClientLoop loop = newLoop();
    RpcPeer peer = newPeer(loop, newServer());
    echo(peer, 10);
    AtomicInteger waiting = new AtomicInteger();
    AtomicBoolean closing = new AtomicBoolean();
    Thread closer =
        new Thread(
            () -> {
              eventually("waiters", () -> waiting.get() == 5);
              closing.set(true);
              loop.close();
            });
    closer.start();
    inThreads(
        5,
        () -> {
          EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
          call.submit();
          waiting.incrementAndGet();
          failWith(ErrorCode.CLOSED, call);
          assertTrue(closing.get());
          return null;
        });
    closer.join();
  }

  @Test
  void endsAWaitWhenTheThreadIsInterrupted() throws Exception {
    assumeTrue(isThreaded(), "this transport lives in one thread");
    RpcPeer peer = newPeer(newLoop(), newServer());
    echo(peer, 10);
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
    call.submit();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        new Thread(() -> thrown.set(assertThrows(InterruptedException.class, () -> await(call))));
    waiter.start();
    waiter.interrupt();
    waiter.join(60_000);
    assertNotNull(thrown.get());
    echo(peer, 10);
  }

  @Test
  void timesAWaitOutBeforeTheCall() throws Exception {
    RpcPeer peer = newPeer(newLoop(), newServer());
    EchoCall call = EchoCall.of(peer, EchoService.IGNORE, number(1), LONG);
    call.submit();
    ClientLoop loop = peer.loop();
    assertFalse(loop.await((Completion) call, loop.clock().nanoTime() + 10_000_000));
    assertFalse(call.isComplete());
  }
}
