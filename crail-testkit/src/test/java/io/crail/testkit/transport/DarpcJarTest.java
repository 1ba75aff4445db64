/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.darpc.DaRPCClientEndpoint;
import com.ibm.darpc.DaRPCClientGroup;
import com.ibm.darpc.DaRPCFuture;
import com.ibm.darpc.DaRPCMessage;
import com.ibm.darpc.DaRPCProtocol;
import com.ibm.darpc.DaRPCServerEndpoint;
import com.ibm.darpc.DaRPCServerEvent;
import com.ibm.darpc.DaRPCServerGroup;
import com.ibm.darpc.DaRPCService;
import com.ibm.darpc.DaRPCStream;
import com.ibm.disni.RdmaServerEndpoint;
import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.RpcPeer;
import io.crail.rpc.Transport;
import io.crail.rpc.WaitKeys;
import io.crail.rpc.darpc.DarpcKeys;
import io.crail.rpc.darpc.DarpcTransport;
import io.crail.testkit.contract.EchoCall;
import io.crail.testkit.contract.EchoService;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.verbs.Availability;
import io.crail.verbs.Verbs;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The jar of DaRPC 1.9 calls a server of Crail's, and is called. */
@Tag("rdma")
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class DarpcJarTest {
  private static final long LONG = 60_000_000_000L;
  private static final int DEPTH = 16;
  private static final int TICKET = 4;
  private static final int MESSAGE = 1024;
  private static final int PORT = 21_919;

  @BeforeAll
  static void requireRdma() {
    Assumptions.assumeTrue(
        Availability.check().usable(), () -> "no RDMA here: " + Availability.check().problem());
  }

  /** A message of the jar that holds one frame. */
  private static final class FrameMessage implements DaRPCMessage {
    private byte[] frame = new byte[0];

    void frame(int code, int kind, long id, byte[] body) {
      int length = Frame.HEADER_LENGTH + body.length;
      ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(buffer, 0, length, code, kind, id);
      frame = buffer.put(Frame.HEADER_LENGTH, body).array();
    }

    ByteBuffer buffer() {
      return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
    }

    byte[] body() {
      byte[] body = new byte[frame.length - Frame.HEADER_LENGTH];
      buffer().get(Frame.HEADER_LENGTH, body);
      return body;
    }

    @Override
    public int write(ByteBuffer buffer) {
      buffer.put(frame);
      return frame.length;
    }

    @Override
    public void update(ByteBuffer buffer) {
      ByteBuffer bytes = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
      frame = new byte[bytes.getInt(bytes.position())];
      bytes.get(frame);
    }

    @Override
    public int size() {
      return MESSAGE - TICKET;
    }
  }

  private static class Protocol implements DaRPCProtocol<FrameMessage, FrameMessage> {
    @Override
    public FrameMessage createRequest() {
      return new FrameMessage();
    }

    @Override
    public FrameMessage createResponse() {
      return new FrameMessage();
    }
  }

  /** Echoes the body of each frame. */
  private static final class Echo extends Protocol
      implements DaRPCService<FrameMessage, FrameMessage> {
    @Override
    public void processServerEvent(DaRPCServerEvent<FrameMessage, FrameMessage> event)
        throws java.io.IOException {
      FrameMessage request = event.getReceiveMessage();
      long id = Frame.correlationId(request.buffer(), 0);
      event.getSendMessage().frame(0, Frame.KIND_RESPONSE, id, request.body());
      event.triggerResponse();
    }

    @Override
    public void open(DaRPCServerEndpoint<FrameMessage, FrameMessage> endpoint) {}

    @Override
    public void close(DaRPCServerEndpoint<FrameMessage, FrameMessage> endpoint) {}
  }

  private static Configuration values() {
    return Configuration.builder()
        .set(WaitKeys.SPIN_TIME, 0)
        .set(DarpcKeys.RECEIVES, DEPTH)
        .set(DarpcKeys.SENDS, DEPTH)
        .set(DarpcKeys.MESSAGE_SIZE, MESSAGE)
        .build();
  }

  private static byte[] body(int length) {
    byte[] body = new byte[length];
    for (int i = 0; i < length; i++) {
      body[i] = (byte) (i * 31 + length);
    }
    return body;
  }

  @Test
  void itsClientCallsOurServer() throws Exception {
    EchoService service = new EchoService();
    try (Transport transport = new DarpcTransport(values());
        Transport.ServerEndpoint server =
            transport.listen("jar", new InetSocketAddress(RdmaHost.SERVER, 0), service)) {
      DaRPCClientGroup<FrameMessage, FrameMessage> group =
          DaRPCClientGroup.createClientGroup(new Protocol(), 1000, 0, DEPTH, DEPTH);
      DaRPCClientEndpoint<FrameMessage, FrameMessage> endpoint = group.createEndpoint();
      endpoint.connect(server.address(), 10_000);
      DaRPCStream<FrameMessage, FrameMessage> stream = endpoint.createStream();
      for (int i = 0; i < 30; i++) {
        byte[] body = body(i * 30);
        FrameMessage request = new FrameMessage();
        request.frame(EchoService.ECHO, Frame.KIND_REQUEST, i, body);
        FrameMessage answer = stream.request(request, new FrameMessage(), false).get();
        assertEquals(i, Frame.correlationId(answer.buffer(), 0));
        assertArrayEquals(body, answer.body());
      }
      // As many at once as its queue takes.
      for (int round = 0; round < 10; round++) {
        List<DaRPCFuture<FrameMessage, FrameMessage>> futures = new ArrayList<>();
        for (int i = 0; i < DEPTH; i++) {
          FrameMessage request = new FrameMessage();
          request.frame(EchoService.ECHO, Frame.KIND_REQUEST, i, body(i));
          futures.add(stream.request(request, new FrameMessage(), false));
        }
        for (int i = 0; i < DEPTH; i++) {
          assertArrayEquals(body(i), futures.get(i).get().body());
        }
      }
      FrameMessage tooMuch = new FrameMessage();
      byte[] want = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(5000).array();
      tooMuch.frame(EchoService.INFLATE, Frame.KIND_REQUEST, 99, want);
      FrameMessage refusal = stream.request(tooMuch, new FrameMessage(), false).get();
      assertEquals(ErrorCode.LIMIT_EXCEEDED.number(), Frame.code(refusal.buffer(), 0));
      endpoint.close();
      group.close();
      long deadline = System.nanoTime() + LONG;
      while (service.closed() == 0) {
        assertTrue(System.nanoTime() - deadline < 0, "its end was not noticed");
        Thread.sleep(1);
      }
    }
  }

  @Test
  void ourClientCallsItsServer() throws Exception {
    // On the first processor that this process may use.
    long[] clusters = {Long.lowestOneBit(Verbs.affinity()[0])};
    DaRPCServerGroup<FrameMessage, FrameMessage> group =
        DaRPCServerGroup.createServerGroup(
            new Echo(), clusters, 1000, 0, false, DEPTH, DEPTH, DEPTH, 4);
    RdmaServerEndpoint<DaRPCServerEndpoint<FrameMessage, FrameMessage>> listener =
        group.createServerEndpoint();
    InetSocketAddress address = new InetSocketAddress(RdmaHost.SERVER, PORT);
    listener.bind(address, 10);
    Thread acceptor =
        new Thread(
            () -> {
              try {
                listener.accept();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    acceptor.setDaemon(true);
    acceptor.start();
    try (Transport transport = new DarpcTransport(values());
        ClientLoop loop = transport.newClientLoop("jar")) {
      RpcPeer peer =
          new RpcPeer(
              loop,
              address,
              to -> EchoCall.once(to, EchoService.HELLO, new byte[8], LONG / 4),
              new RpcPeer.Options(128, 1000, 1, LONG / 4, 5_000_000));
      List<EchoCall> calls = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        EchoCall call = EchoCall.of(peer, EchoService.ECHO, body(i * 3), LONG);
        call.submit();
        calls.add(call);
      }
      for (EchoCall call : calls) {
        assertTrue(loop.await(call, System.nanoTime() + LONG));
        assertNull(call.failure());
        assertArrayEquals(call.request(), call.answer());
      }
      EchoCall tooLong = EchoCall.of(peer, EchoService.ECHO, body(MESSAGE), LONG);
      tooLong.submit();
      assertTrue(loop.await(tooLong, System.nanoTime() + LONG));
      assertEquals(ErrorCode.LIMIT_EXCEEDED, tooLong.failure().code());
      EchoCall after = EchoCall.of(peer, EchoService.ECHO, body(10), LONG);
      after.submit();
      assertTrue(loop.await(after, System.nanoTime() + LONG));
      assertNull(after.failure());
    }
    listener.close();
    group.close();
  }
}
