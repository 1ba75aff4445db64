/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.rpc.rdma.RdmaKeys;
import io.crail.rpc.rdma.RdmaListener;
import io.crail.testkit.contract.EchoCall;
import io.crail.testkit.contract.EchoService;
import io.crail.testkit.rdma.OtherPrograms;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import io.crail.verbs.Availability;
import io.crail.verbs.Verbs;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the RDMA transport promises beyond the contract: broken and foreign peers do no harm. */
@Tag("rdma")
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class DarpcPeersTest {
  private static final long LONG = 60_000_000_000L;
  private static final int DEPTH = 8;
  private static final int MESSAGE = 1024;
  private static final int CONNECTIONS = 3;

  private final List<AutoCloseable> resources = new ArrayList<>();
  private final EchoService service = new EchoService();
  private String before;
  private long notReadyBefore;
  private Transport clients;
  private ClientLoop loop;

  @BeforeAll
  static void requireRdma() {
    Assumptions.assumeTrue(
        Availability.check().usable(), () -> "no RDMA here: " + Availability.check().problem());
  }

  @BeforeEach
  void open() {
    before = RdmaResources.open();
    notReadyBefore = RdmaResources.notReady();
    clients = keep(new DarpcTransport(values().build()));
    loop = keep(clients.newClientLoop("test"));
  }

  /** Runs last: nothing may be left, and no message may have waited for a receive request. */
  @AfterEach
  void leaveNothing() throws Exception {
    for (int i = resources.size() - 1; i >= 0; i--) {
      resources.get(i).close();
    }
    assertEquals(before, RdmaResources.open());
    assertEquals(notReadyBefore, RdmaResources.notReady());
  }

  private <T extends AutoCloseable> T keep(T resource) {
    resources.add(resource);
    return resource;
  }

  /** Two clusters, wherever there is a processor. */
  private static String processors() {
    try {
      long[] mask = Verbs.affinity();
      for (int i = 0; i < mask.length; i++) {
        if (mask[i] != 0) {
          int first = i * Long.SIZE + Long.numberOfTrailingZeros(mask[i]);
          return first + "," + first;
        }
      }
      throw new IllegalStateException("no processor");
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Configuration.Builder values() {
    return Configuration.builder()
        .set(RdmaKeys.RETRIES, 3)
        .set(WaitKeys.SPIN_TIME, 0)
        .set(DarpcKeys.AFFINITY, processors())
        .set(DarpcKeys.RECEIVES, DEPTH)
        .set(DarpcKeys.SENDS, DEPTH)
        .set(DarpcKeys.MESSAGE_SIZE, MESSAGE)
        .set(DarpcKeys.OUTPUT_LIMIT, "64k")
        .set(DarpcKeys.CLUSTER_SIZE, CONNECTIONS);
  }

  private Transport.ServerEndpoint listen(Configuration.Builder values) throws IOException {
    Transport transport = keep(new DarpcTransport(values.build()));
    return keep(transport.listen("peers", new InetSocketAddress(RdmaHost.SERVER, 0), service));
  }

  private RpcPeer peer(InetSocketAddress address) {
    return new RpcPeer(
        loop,
        address,
        to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG / 2),
        new RpcPeer.Options(64, 1000, 2, LONG / 2, 5_000_000));
  }

  private EchoCall end(EchoCall call) throws InterruptedException {
    assertTrue(loop.await(call, System.nanoTime() + LONG), "no end of the call");
    return call;
  }

  private void echo(RpcPeer peer, int length) throws InterruptedException {
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, new byte[length], LONG);
    call.submit();
    assertNull(end(call).failure());
    assertEquals(length, call.answer().length);
  }

  private void until(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + LONG;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, () -> "not in time: " + what);
      loop.pollOnce();
      Thread.sleep(1);
    }
  }

  private RawPeer raw(Transport.ServerEndpoint server, ByteBuffer greeting) throws Exception {
    RawPeer raw = new RawPeer(loop);
    raw.connect(server.address(), greeting);
    return connected(raw);
  }

  private RawPeer connected(RawPeer raw) throws Exception {
    until("a raw connection", () -> raw.connected || raw.end != null);
    return raw;
  }

  private static ByteBuffer greeting() {
    return RawPeer.greeting(1, MESSAGE, DEPTH);
  }

  private static byte[] request(int header, int opcode, long id, byte[] body) {
    return RawPeer.message(header, opcode, Frame.KIND_REQUEST, id, body);
  }

  // Broken peers of a server.

  @Test
  void garbageEndsOnlyItsConnection() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    RpcPeer good = peer(server.address());
    echo(good, 10);
    List<byte[]> bad = new ArrayList<>();
    bad.add(new byte[0]);
    bad.add(new byte[3]);
    bad.add(new byte[MESSAGE + 1]);
    bad.add("....GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes());
    bad.add(request(1, EchoService.HELLO, 1, new byte[0]));
    bad.add(request(-1, EchoService.HELLO, 1, new byte[0]));
    bad.add(RawPeer.message(0, EchoService.HELLO, Frame.KIND_RESPONSE, 1, new byte[0]));
    int closed = 0;
    for (byte[] message : bad) {
      RawPeer raw = raw(server, greeting());
      assertTrue(raw.connected, raw.end);
      raw.send(message);
      until("the end of a bad connection", () -> raw.end != null);
      echo(good, 3000);
      int ends = ++closed;
      until("its end at the service", () -> service.closed() == ends);
    }
    assertEquals(1, service.opened());
  }

  @Test
  void aPeerWithoutAGreetingIsAnsweredByTicket() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    RawPeer raw = raw(server, null);
    assertTrue(raw.connected, raw.end);
    raw.send(request(0x01020304, EchoService.HELLO, 77, new byte[5]));
    raw.send(request(0x0a0b0c0d, EchoService.ECHO, 78, new byte[50]));
    byte[] want = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(60_000).array();
    raw.send(request(-5, EchoService.INFLATE, 79, want));
    until("three answers", () -> raw.received.size() == 3);
    assertArrayEquals(
        RawPeer.message(0x01020304, 0, Frame.KIND_RESPONSE, 77, new byte[5]), raw.received.poll());
    assertArrayEquals(
        RawPeer.message(0x0a0b0c0d, 0, Frame.KIND_RESPONSE, 78, new byte[50]), raw.received.poll());
    ByteBuffer tooLong = ByteBuffer.wrap(raw.received.poll());
    assertEquals(-5, tooLong.getInt(0));
    assertEquals(
        ErrorCode.LIMIT_EXCEEDED.number(), Frame.code(tooLong.order(ByteOrder.LITTLE_ENDIAN), 4));
    // A frame that does not end with its message.
    raw.send(
        ByteBuffer.allocate(24)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(4, 500)
            .put(10, (byte) 1)
            .array());
    until("its end", () -> raw.end != null);
  }

  @Test
  void othersMachinesPingDoesNoHarm() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    String port = String.valueOf(server.address().getPort());
    OtherPrograms.run(20, "rping", "-c", "-a", RdmaHost.SERVER, "-C", "1", "-p", port);
    until("its end", () -> service.closed() == 1);
    echo(peer(server.address()), 100);
  }

  @Test
  void aPeerOfAnotherVersionGetsTheReason() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    RawPeer raw = raw(server, RawPeer.greeting(2, MESSAGE, DEPTH));
    assertFalse(raw.connected);
    assertTrue(raw.end.contains("refused"), raw.end);
    assertFalse(raw(server, RawPeer.greeting(1, 1 << 30, DEPTH)).connected);
    echo(peer(server.address()), 100);
  }

  @Test
  void silentAndHalfConnectionsAreClosed() throws Exception {
    Transport.ServerEndpoint server =
        listen(values().set(DarpcKeys.HANDSHAKE_TIMEOUT, "2s").set(DarpcKeys.STALL_TIMEOUT, "2s"));
    RawPeer silent = raw(server, greeting());
    until("the end of a silent connection", () -> silent.end != null);
    RawPeer half = raw(server, greeting());
    half.send(request(0, EchoService.HELLO, 1, new byte[0]));
    ByteBuffer begun = ByteBuffer.wrap(request(0, EchoService.ECHO, 2, new byte[60]));
    begun.order(ByteOrder.LITTLE_ENDIAN).putInt(4, 2000);
    half.send(begun.array());
    until("the end of half a request", () -> half.end != null);
    assertEquals(1, half.received.size());
    until("the end of both sessions", () -> service.closed() == 2);
  }

  @Test
  void aPeerThatReturnsNoCreditsIsNotServedAndThenClosed() throws Exception {
    Transport.ServerEndpoint server = listen(values().set(DarpcKeys.STALL_TIMEOUT, "3s"));
    RpcPeer good = peer(server.address());
    echo(good, 10);
    RawPeer greedy = raw(server, greeting());
    greedy.send(request(0, EchoService.HELLO, 0, new byte[0]));
    byte[] want = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(50_000).array();
    for (int i = 1; i < DEPTH - 1; i++) {
      greedy.send(request(0, EchoService.INFLATE, i, want));
    }
    until("as many messages as it has allowed", () -> greedy.received.size() >= DEPTH - 1);
    echo(good, 5000);
    until("its end", () -> greedy.end != null);
    // The last one at most returns credits and has no content.
    assertTrue(greedy.received.size() <= DEPTH, "messages: " + greedy.received.size());
    echo(good, 5000);
  }

  @Test
  void aPeerThatDiesIsNoticed() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    Process child =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1",
                "-Djava.library.path=" + System.getProperty("java.library.path"),
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                RdmaHost.SERVER,
                String.valueOf(server.address().getPort()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    // Which ends its output, too. A JVM may take more than a minute to start on a busy emulator.
    CompletableFuture.delayedExecutor(3 * LONG, TimeUnit.NANOSECONDS)
        .execute(child::destroyForcibly);
    try (BufferedReader output = child.inputReader()) {
      assertEquals("connected", output.readLine());
      child.destroyForcibly();
      until("the end of its connection", () -> service.closed() == 1);
    } finally {
      child.destroyForcibly().waitFor();
    }
    echo(peer(server.address()), 10);
  }

  /** Connects, says so, and waits to be killed. */
  static final class Victim {
    public static void main(String[] arguments) throws Exception {
      Transport transport = new DarpcTransport(values().build());
      ClientLoop loop = transport.newClientLoop("victim");
      RpcPeer peer =
          new RpcPeer(
              loop,
              new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])),
              to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG),
              new RpcPeer.Options(64, 1000, 2, LONG / 2, 5_000_000));
      EchoCall call = EchoCall.of(peer, EchoService.ECHO, new byte[10], LONG);
      call.submit();
      loop.await(call, System.nanoTime() + LONG);
      System.out.println(call.failure() == null ? "connected" : call.failure().getMessage());
      Thread.sleep(LONG / 1_000_000);
    }
  }

  @Test
  void oneConnectionTooManyGetsTheReason() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    List<RpcPeer> peers = new ArrayList<>();
    for (int i = 0; i < 2 * CONNECTIONS; i++) {
      peers.add(peer(server.address()));
      echo(peers.get(i), 10);
    }
    EchoCall surplus = EchoCall.of(peer(server.address()), EchoService.ECHO, new byte[8], LONG);
    surplus.submit();
    CrailException failure = end(surplus).failure();
    assertEquals(ErrorCode.UNAVAILABLE, failure.code());
    assertTrue(failure.getMessage().contains("6 connections"), failure.getMessage());
    loop.submit(peers.get(0)::close);
    until("room for one", () -> service.closed() == 1);
    echo(peer(server.address()), 10);
    for (int i = 1; i < peers.size(); i++) {
      echo(peers.get(i), 2000);
    }
  }

  @Test
  void manyConnectionsAndThreadsAtOnce() throws Exception {
    Transport.ServerEndpoint server = listen(values().set(DarpcKeys.CLUSTER_SIZE, 64));
    List<ClientLoop> loops = new ArrayList<>();
    List<EchoCall> calls = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      loops.add(keep(clients.newClientLoop("many-" + i)));
    }
    for (int i = 0; i < 24; i++) {
      ClientLoop mine = loops.get(i % 4);
      RpcPeer peer =
          new RpcPeer(
              mine,
              server.address(),
              to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG),
              new RpcPeer.Options(64, 1000, 2, LONG / 2, 5_000_000));
      for (int c = 0; c < 30; c++) {
        byte[] body = new byte[c % 10 == 0 ? 9_000 : 40];
        EchoCall call = EchoCall.of(peer, EchoService.ECHO, body, LONG);
        call.submit();
        calls.add(call);
      }
    }
    for (EchoCall call : calls) {
      assertTrue(call.peer().loop().await(call, System.nanoTime() + LONG));
      assertNull(call.failure());
      assertEquals(call.request().length, call.answer().length);
    }
    assertEquals(24, service.opened());
    loops.forEach(ClientLoop::close);
    until("all ends", () -> service.closed() == 24);
  }

  @Test
  @TwoHosts
  void oneThreadServesAllDevicesAndBothKindsOfAddresses() throws Exception {
    Transport transport = keep(new DarpcTransport(values().build()));
    Transport.ServerEndpoint everywhere =
        keep(transport.listen("peers", new InetSocketAddress("0.0.0.0", 0), service));
    Transport.ServerEndpoint six =
        keep(transport.listen("six", new InetSocketAddress("fd00:9::2", 0), service));
    int port = everywhere.address().getPort();
    List<RpcPeer> peers =
        List.of(
            peer(new InetSocketAddress("10.9.0.1", port)),
            peer(new InetSocketAddress(RdmaHost.SERVER, port)),
            peer(six.address()));
    for (int i = 0; i < 5; i++) {
      for (RpcPeer peer : peers) {
        echo(peer, 100 + i);
      }
    }
  }

  // Broken peers of a client.

  private RdmaListener impostor(RdmaListener.Acceptor acceptor) throws IOException {
    return keep(
        RdmaListener.listen(
            "impostor", new InetSocketAddress(RdmaHost.SERVER, 0), 16, 16, acceptor));
  }

  @Test
  void aRefusalHasItsReason() throws Exception {
    ByteBuffer refusal = ByteBuffer.allocate(32).putInt(0x43726169).putInt(1);
    refusal.put("not on Saturdays".getBytes()).flip();
    RdmaListener wordy = impostor(request -> request.reject(refusal));
    RdmaListener curt = impostor(request -> request.reject(null));
    for (RdmaListener listener : List.of(wordy, curt)) {
      EchoCall call = EchoCall.of(peer(listener.address()), EchoService.ECHO, new byte[8], LONG);
      call.submit();
      CrailException failure = end(call).failure();
      assertEquals(ErrorCode.UNAVAILABLE, failure.code());
      assertTrue(
          failure.getMessage().contains(listener == wordy ? "not on Saturdays" : "refused"),
          failure.getMessage());
    }
  }

  @Test
  void anUnusedAddressIsGivenUp() throws Exception {
    long start = System.nanoTime();
    RpcPeer nobody =
        new RpcPeer(
            loop,
            new InetSocketAddress("10.9.0.77", 4711),
            to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG),
            new RpcPeer.Options(64, 1000, 2, 1_000_000_000, 5_000_000));
    EchoCall call = EchoCall.of(nobody, EchoService.ECHO, new byte[8], LONG);
    call.submit();
    assertEquals(ErrorCode.UNAVAILABLE, end(call).failure().code());
    assertTrue(System.nanoTime() - start < LONG);
  }

  // The cable.

  @Test
  @TwoHosts
  void callsGoOnWhenTheCableIsBack() throws Exception {
    Transport.ServerEndpoint server = listen(values());
    RpcPeer peer = peer(server.address());
    echo(peer, 10);
    RdmaResources.cutCable();
    try {
      EchoCall lost = EchoCall.once(peer, EchoService.ECHO, new byte[100], LONG / 2);
      lost.submit();
      CrailException failure = end(lost).failure();
      assertNotNull(failure);
      assertTrue(
          Set.of(ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT).contains(failure.code()),
          failure.getMessage());
    } finally {
      RdmaResources.mendCable();
    }
    until("a call that succeeds", () -> succeeds(peer));
    echo(peer, 3000);
  }

  private boolean succeeds(RpcPeer peer) {
    EchoCall call = EchoCall.of(peer, EchoService.ECHO, new byte[8], 5_000_000_000L);
    call.submit();
    try {
      return end(call).failure() == null;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether it is one of Crail's or not, and however often it wants the server's device to try. */
  @ParameterizedTest
  @CsvSource({"true, 3", "false, 3", "true, 7", "false, 7"})
  @TwoHosts
  void anIdlePeerBehindACutCableIsNoticed(boolean crails, int retries) throws Exception {
    Transport.ServerEndpoint server =
        listen(values().set(DarpcKeys.KEEP_ALIVE, "500ms").set(DarpcKeys.STALL_TIMEOUT, "3s"));
    RawPeer idle = new RawPeer(loop);
    idle.connect(server.address(), crails ? greeting() : null, retries);
    connected(idle);
    idle.send(request(0, EchoService.HELLO, 1, new byte[0]));
    until("an answer", () -> !idle.received.isEmpty());
    // Long enough for many signs of life, for which it returns nothing, and for the stall timeout.
    long end = System.nanoTime() + 4_000_000_000L;
    until("some time", () -> System.nanoTime() - end >= 0);
    assertEquals(0, service.closed(), idle.end);
    assertEquals(1, idle.received.size());
    RdmaResources.cutCable();
    try {
      until("its end", () -> service.closed() == 1);
    } finally {
      RdmaResources.mendCable();
    }
    until("a new connection", () -> succeeds(peer(server.address())));
  }

  // Values that cannot be.

  @Test
  @TwoHosts
  void aQueueThatIsTooLongIsRefusedByName() {
    String text =
        assertThrows(
                ConfigException.class,
                () -> new DarpcTransport(values().set(DarpcKeys.CLUSTER_SIZE, 65_536).build()))
            .getMessage();
    assertTrue(text.contains(DarpcKeys.CLUSTER_SIZE.name()) && text.contains("rxe"), text);
  }

  @Test
  void aProcessorThatIsNotThereIsRefusedByName() {
    String text =
        assertThrows(ConfigException.class, () -> listen(values().set(DarpcKeys.AFFINITY, "777")))
            .getMessage();
    assertTrue(text.contains(DarpcKeys.AFFINITY.name()) && text.contains("777"), text);
  }
}
