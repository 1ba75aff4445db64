/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import com.ibm.disni.RdmaActiveEndpoint;
import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** The unchanged jars of DiSNI and DaRPC, with Crail's native library. */
@Tag("rdma")
@Timeout(120)
class DisniTest {
  private static final String SERVER = System.getProperty("crail.test.rdma.server", "10.9.0.2");
  private static final int PATIENCE_MILLIS = 20_000;
  private static final int BYTES = 4096;

  private static InetSocketAddress server(int port) throws IOException {
    return new InetSocketAddress(InetAddress.getByName(SERVER), port);
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  // ---- The verbs layer

  private static RdmaCmEvent.EventType next(RdmaEventChannel channel) throws IOException {
    RdmaCmEvent event = channel.getCmEvent(PATIENCE_MILLIS);
    assertNotNull(event, "no event in time");
    event.ackEvent();
    return RdmaCmEvent.EventType.values()[event.getEvent()];
  }

  @Test
  @DisabledIfSystemProperty(
      named = "crail.test.rdma.device",
      matches = ".*",
      disabledReason = "needs the two hosts of bin/rdma-vm")
  void anUnusedAddressEndsTheWait() throws Exception {
    RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
    RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
    assertNull(channel.getCmEvent(50));
    id.resolveAddr(null, new InetSocketAddress(InetAddress.getByName("10.9.0.99"), 1), 300);
    assertEquals(RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_ERROR, next(channel));
    assertEquals(0, id.destroyId());
    assertEquals(0, channel.destroyEventChannel());
  }

  @Test
  void aFailureIsAnExceptionWithCallAndNumber() throws Exception {
    RdmaEventChannel channel = RdmaEventChannel.createEventChannel();
    RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
    IOException e =
        assertThrows(
            IOException.class,
            () -> id.bindAddr(new InetSocketAddress(InetAddress.getByName("10.9.0.99"), 0)));
    assertTrue(e.getMessage().matches("rdma_bind_addr: .* \\(errno \\d+\\)"), e.getMessage());
    e = assertThrows(IOException.class, id::disconnect);
    assertEquals("rdma_disconnect: Invalid argument (errno 22)", e.getMessage());
    id.destroyId();
    channel.destroyEventChannel();
  }

  // ---- The endpoint layer

  /** Has a buffer for messages, and a buffer that peers read. */
  private static final class Endpoint extends RdmaActiveEndpoint {
    private final BlockingQueue<IbvWC> completions = new ArrayBlockingQueue<>(16);
    private final ByteBuffer messages = direct();
    private final ByteBuffer data = direct();
    private IbvMr messagesMr;
    private IbvMr dataMr;

    Endpoint(RdmaActiveEndpointGroup<Endpoint> group, RdmaCmId id, boolean serverSide)
        throws IOException {
      super(group, id, serverSide);
    }

    private static ByteBuffer direct() {
      return ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
    }

    @Override
    protected synchronized void init() throws IOException {
      super.init();
      messagesMr = registerMemory(messages).execute().free().getMr();
      dataMr = registerMemory(data).execute().free().getMr();
      IbvRecvWR receive = new IbvRecvWR();
      receive.setWr_id(1);
      receive.setSg_list(elements(messagesMr, 0, BYTES / 2));
      postRecv(list(receive)).execute().free();
    }

    @Override
    public void dispatchCqEvent(IbvWC completion) {
      completions.add(completion.clone());
    }

    private static <T> LinkedList<T> list(T element) {
      return new LinkedList<>(List.of(element));
    }

    private static LinkedList<IbvSge> elements(IbvMr mr, int offset, int length) {
      IbvSge element = new IbvSge();
      element.setAddr(mr.getAddr() + offset);
      element.setLength(length);
      element.setLkey(mr.getLkey());
      return list(element);
    }

    /** Sends the peer the place to read from. */
    void sendLocation() throws IOException {
      messages.putLong(BYTES / 2, dataMr.getAddr()).putInt(BYTES / 2 + 8, dataMr.getRkey());
      IbvSendWR send = new IbvSendWR();
      send.setWr_id(2);
      send.setOpcode(IbvSendWR.IBV_WR_SEND);
      send.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
      send.setSg_list(elements(messagesMr, BYTES / 2, 12));
      postSend(list(send)).execute().free();
    }

    /** Reads from the location that the peer has sent. */
    void read() throws IOException {
      IbvSendWR read = new IbvSendWR();
      read.setWr_id(3);
      read.setOpcode(IbvSendWR.IBV_WR_RDMA_READ);
      read.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
      read.setSg_list(elements(dataMr, 0, BYTES));
      read.getRdma().setRemote_addr(messages.getLong(0));
      read.getRdma().setRkey(messages.getInt(8));
      postSend(list(read)).execute().free();
    }

    void expect(long id, int bytes) throws InterruptedException {
      IbvWC completion = completions.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
      assertNotNull(completion, "no completion in time");
      assertEquals(0, completion.getStatus());
      assertEquals(id, completion.getWr_id());
      if (bytes > 0) {
        assertEquals(bytes, completion.getByte_len());
      }
    }

    void deregister() throws IOException {
      deregisterMemory(messagesMr);
      deregisterMemory(dataMr);
    }
  }

  private static RdmaActiveEndpointGroup<Endpoint> group() throws IOException {
    RdmaActiveEndpointGroup<Endpoint> group = new RdmaActiveEndpointGroup<>(100, false, 16, 4, 64);
    group.init((id, serverSide) -> new Endpoint(group, id, serverSide));
    return group;
  }

  private static void readThroughEndpoints(int port) throws Exception {
    RdmaActiveEndpointGroup<Endpoint> servers = group();
    RdmaActiveEndpointGroup<Endpoint> clients = group();
    RdmaServerEndpoint<Endpoint> listener = servers.createServerEndpoint();
    listener.bind(server(port), 8);
    CompletableFuture<Endpoint> accepted = new CompletableFuture<>();
    Thread acceptor =
        new Thread(
            () -> {
              try {
                accepted.complete(listener.accept());
              } catch (IOException e) {
                accepted.completeExceptionally(e);
              }
            });
    acceptor.start();
    Endpoint client = clients.createEndpoint();
    client.connect(server(port), PATIENCE_MILLIS);
    Endpoint peer = accepted.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    acceptor.join(PATIENCE_MILLIS);
    assertEquals(server(port).getAddress(), ((InetSocketAddress) client.getDstAddr()).getAddress());

    for (int i = 0; i < BYTES; i++) {
      peer.data.put(i, (byte) i);
    }
    peer.sendLocation();
    peer.expect(2, 0);
    client.expect(1, 12);
    client.read();
    client.expect(3, BYTES);
    assertEquals(peer.data, client.data);

    client.close();
    peer.close();
    client.deregister();
    peer.deregister();
    listener.close();
    clients.close();
    servers.close();
  }

  @Test
  void endpointsReadRemoteMemoryAndCloseTheirChannels() throws Exception {
    readThroughEndpoints(4711);
    long before = descriptors();
    readThroughEndpoints(4712);
    readThroughEndpoints(4713);
    // The channel of each group was destroyed with its completion queue, although DiSNI closed it
    // earlier.
    assertEquals(before, descriptors());
  }

  // ---- DaRPC

  /** A number. */
  private static final class Message implements DaRPCMessage {
    private long value;

    @Override
    public int size() {
      return Long.BYTES;
    }

    @Override
    public int write(ByteBuffer buffer) {
      buffer.putLong(value);
      return Long.BYTES;
    }

    @Override
    public void update(ByteBuffer buffer) {
      value = buffer.getLong();
    }
  }

  private static class Protocol implements DaRPCProtocol<Message, Message> {
    @Override
    public Message createRequest() {
      return new Message();
    }

    @Override
    public Message createResponse() {
      return new Message();
    }
  }

  /** Adds one. */
  private static final class Service extends Protocol implements DaRPCService<Message, Message> {
    @Override
    public void processServerEvent(DaRPCServerEvent<Message, Message> event) throws IOException {
      event.getSendMessage().value = event.getReceiveMessage().value + 1;
      event.triggerResponse();
    }

    @Override
    public void open(DaRPCServerEndpoint<Message, Message> endpoint) {}

    @Override
    public void close(DaRPCServerEndpoint<Message, Message> endpoint) {}
  }

  @Test
  void darpcAnswersRequests() throws Exception {
    DaRPCServerGroup<Message, Message> servers =
        DaRPCServerGroup.createServerGroup(
            new Service(), new long[] {1}, 100, 64, false, 16, 16, 16, 4);
    RdmaServerEndpoint<DaRPCServerEndpoint<Message, Message>> listener =
        servers.createServerEndpoint();
    listener.bind(server(4720), 8);
    Thread acceptor =
        new Thread(
            () -> {
              try {
                listener.accept();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            });
    acceptor.start();
    DaRPCClientGroup<Message, Message> clients =
        DaRPCClientGroup.createClientGroup(new Protocol(), 100, 64, 16, 16);
    DaRPCClientEndpoint<Message, Message> client = clients.createEndpoint();
    client.connect(server(4720), PATIENCE_MILLIS);
    acceptor.join(PATIENCE_MILLIS);
    DaRPCStream<Message, Message> stream = client.createStream();
    for (int i = 0; i < 200; i++) {
      Message request = new Message();
      request.value = i;
      DaRPCFuture<Message, Message> future = stream.request(request, new Message(), false);
      assertEquals(i + 1, future.get().value);
    }
    client.close();
    clients.close();
    listener.close();
    servers.close();
  }
}
