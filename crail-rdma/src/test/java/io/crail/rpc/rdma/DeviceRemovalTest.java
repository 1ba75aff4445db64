/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.RpcCall;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Service;
import io.crail.rpc.Session;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.function.Executable;

/**
 * A device is removed and comes back. Soft-RoCE completes a removal only when no process uses the
 * device any more. So a removal that completes proves that everything was released.
 */
@Tag("rdma")
@DisabledIfSystemProperty(
    named = "crail.test.rdma.device",
    matches = ".*",
    disabledReason = "takes the devices of bin/rdma-vm away")
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class DeviceRemovalTest {
  private static final long PATIENCE = 60_000_000_000L;
  private static final int ECHO = 1;
  private static final int IGNORE = 2;
  private static final Pattern COUNT = Pattern.compile("\\b(pd|cq|qp|cm_id|mr) (\\d+)");

  private final Echo service = new Echo();
  private Map<String, Integer> before;
  private Transport transport;
  private ClientLoop loop;

  @BeforeEach
  void open() throws Exception {
    before = resources();
    assertTrue(before.containsKey("qp"), before::toString);
    transport = new DarpcTransport(Configuration.builder().set(WaitKeys.SPIN_TIME, 0).build());
    loop = transport.newClientLoop("removal");
  }

  @AfterEach
  void leaveNothing() throws Exception {
    try {
      loop.close();
      transport.close();
    } finally {
      // After the close, since a removal does not end while a process holds the device.
      for (int host = 0; host < 2; host++) {
        if (!Files.exists(Path.of("/sys/class/infiniband/rxe" + host))) {
          add(host);
        }
      }
    }
    until("all is released, as before: " + before, () -> resources().equals(before));
  }

  /** A service that answers, or does not. */
  private static final class Echo implements Service {
    final AtomicInteger ended = new AtomicInteger();

    @Override
    public void serve(RequestBatch batch, ResponseWriter responses) {
      for (int i = 0; i < batch.count(); i++) {
        if (batch.opcode(i) != IGNORE) {
          int length = batch.bodyLength(i);
          int body = responses.begin(length);
          responses.buffer().put(body, batch.buffer(), batch.bodyOffset(i), length);
          responses.end(batch.correlationId(i), length);
        }
      }
    }

    @Override
    public void closed(Session session) {
      ended.incrementAndGet();
    }
  }

  /** Eight bytes to a server and back. */
  private static final class Call extends RpcCall {
    private final int opcode;

    Call(RpcPeer to, int opcode, long timeoutNanos) {
      this.opcode = opcode;
      prepare(to, to.loop().clock().nanoTime() + timeoutNanos);
    }

    @Override
    protected int opcode() {
      return opcode;
    }

    @Override
    protected boolean changes() {
      return opcode == ECHO;
    }

    @Override
    protected int bodyLength() {
      return Long.BYTES;
    }

    @Override
    protected void encode(ByteBuffer out, int offset) {
      out.putLong(offset, 42);
    }

    @Override
    protected void decode(ByteBuffer in, int offset, int length) {
      assertEquals(42, in.getLong(offset));
    }
  }

  private RpcPeer peer(InetSocketAddress server) {
    return new RpcPeer(
        loop,
        server,
        to -> new Call(to, ECHO, PATIENCE),
        new RpcPeer.Options(64, 1000, 2, PATIENCE / 6, 5_000_000));
  }

  private CrailException end(Call call) throws InterruptedException {
    call.submit();
    assertTrue(loop.await(call, System.nanoTime() + 2 * PATIENCE), "a call never ended");
    return call.failure();
  }

  private boolean succeeds(RpcPeer peer) {
    try {
      return end(new Call(peer, ECHO, PATIENCE / 6)) == null;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void until(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, () -> "not in time: " + what);
      loop.pollOnce();
      Thread.sleep(10);
    }
  }

  /** Starts a process without waiting, since a process that the kernel blocks cannot be ended. */
  private static Process start(String... command) throws IOException {
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void add(int host) throws Exception {
    Process adding =
        start("rdma", "link", "add", "rxe" + host, "type", "rxe", "netdev", "rv" + host);
    assertTrue(adding.waitFor(60, TimeUnit.SECONDS), "the device is not made");
    assertEquals(0, adding.exitValue());
  }

  /** The resources of the devices, over all processes and the kernel. */
  private static Map<String, Integer> resources() {
    Map<String, Integer> counts = new TreeMap<>();
    try {
      Process shown =
          new ProcessBuilder("timeout", "-s", "KILL", "60", "rdma", "resource", "show").start();
      String text = new String(shown.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Matcher found = COUNT.matcher(text);
      while (found.find()) {
        counts.merge(found.group(1), Integer.parseInt(found.group(2)), Integer::sum);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return counts;
  }

  private void remove(int host, RpcPeer peer) throws Exception {
    Call outstanding = new Call(peer, IGNORE, 3 * PATIENCE);
    outstanding.submit();
    Process removing = start("rdma", "link", "delete", "rxe" + host);
    assertTrue(loop.await(outstanding, System.nanoTime() + PATIENCE), "never ended");
    assertNotNull(outstanding.failure());
    assertEquals(
        ErrorCode.UNAVAILABLE, outstanding.failure().code(), outstanding.failure()::toString);
    until("the kernel's removal", () -> !removing.isAlive());
    assertEquals(0, removing.exitValue());
    assertFalse(Files.exists(Path.of("/sys/class/infiniband/rxe" + host)));
    CrailException meanwhile = end(new Call(peer, ECHO, 2_000_000_000L));
    assertNotNull(meanwhile);
    assertTrue(
        meanwhile.code() == ErrorCode.UNAVAILABLE || meanwhile.code() == ErrorCode.TIMED_OUT,
        meanwhile::toString);
  }

  /** With an address of the device, and with the wildcard address. */
  @Test
  void aServerLetsGoOfItsDeviceAndHearsAgainWhenItIsBack() throws Exception {
    for (String address : new String[] {"10.9.0.2", "0.0.0.0"}) {
      try (Transport.ServerEndpoint server =
          transport.listen("removal", new InetSocketAddress(address, 0), service)) {
        RpcPeer peer = peer(new InetSocketAddress("10.9.0.2", server.address().getPort()));
        assertNull(end(new Call(peer, ECHO, PATIENCE)));
        for (int round = 0; round < 2; round++) {
          int ended = service.ended.get();
          remove(1, peer);
          assertEquals(ended + 1, service.ended.get());
          add(1);
          until("a call after " + address + " is back", () -> succeeds(peer));
        }
        loop.submit(peer::close);
      }
    }
  }

  @Test
  void aClientLetsGoOfItsDeviceAndConnectsAgainWhenItIsBack() throws Exception {
    try (Transport.ServerEndpoint server =
        transport.listen("removal", new InetSocketAddress("10.9.0.2", 0), service)) {
      RpcPeer peer = peer(server.address());
      for (int round = 0; round < 2; round++) {
        until("a call", () -> succeeds(peer));
        remove(0, peer);
        add(0);
      }
      until("a call", () -> succeeds(peer));
      // The same without a connection.
      loop.submit(peer::close);
      Process removing = start("rdma", "link", "delete", "rxe0");
      until("the removal of a device without a connection", () -> !removing.isAlive());
      add(0);
      RpcPeer another = peer(server.address());
      until("a call of another peer", () -> succeeds(another));
    }
  }

  @Test
  void aListenerReportsWhichDeviceWasRemoved() throws Exception {
    AtomicLong told = new AtomicLong();
    RdmaListener.Acceptor acceptor =
        new RdmaListener.Acceptor() {
          @Override
          public void requested(RdmaListener.Request request) {
            request.reject(null);
          }

          @Override
          public void deviceRemoved(long context) {
            told.set(context);
          }

          @Override
          public boolean listensAgain() {
            return false;
          }
        };
    InetSocketAddress address = new InetSocketAddress("10.9.0.2", 0);
    try (RdmaListener listener = RdmaListener.listen("removal", address, 1, 16, acceptor)) {
      Process removing = start("rdma", "link", "delete", "rxe1");
      until("the listener's word", () -> told.get() == listener.context());
      until("the kernel's removal", () -> !removing.isAlive());
    }
  }

  @Test
  void nothingMoreIsMadeOfADeviceThatWasRemoved() throws Exception {
    QueuePair.Options options = new QueuePair.Options(1, 1, 1, 0, 1);
    long channel = Verbs.createEventChannel();
    long id = Verbs.createId(channel);
    RdmaDevices devices = new RdmaDevices();
    RdmaQueues queues = new RdmaQueues(devices, 16, 16, descriptor -> {});
    try {
      Verbs.bind(id, new InetSocketAddress("10.9.0.1", 0));
      RdmaDevice device = devices.of(Verbs.context(id), Verbs.deviceOf(id), Verbs.localAddress(id));
      Process removing = start("rdma", "link", "delete", "rxe0");
      until("the device is missed", () -> devices.removed().contains(device));
      assertRefused(() -> queues.create(id, options, unused -> {}));
      devices.release(device);
      // The id still keeps the context, as the id of a peer does that waits for an answer.
      assertRefused(() -> queues.create(id, options, unused -> {}));
      assertTrue(devices.removed().isEmpty());
      Verbs.destroyId(id);
      until(
          "the kernel's removal",
          () -> {
            Verbs.closeRemovedDevices();
            return !removing.isAlive();
          });
    } finally {
      queues.close();
      devices.close();
      Verbs.destroyEventChannel(channel);
    }
  }

  private static void assertRefused(Executable use) {
    String why = assertThrows(RdmaException.class, use).getMessage();
    assertTrue(why.contains("rxe") && why.contains("was removed"), why);
  }
}
