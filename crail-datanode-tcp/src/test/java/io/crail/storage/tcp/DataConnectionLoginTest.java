/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Login;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.FenceKind;
import io.crail.protocol.part.Place;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Frame;
import io.crail.rpc.login.Anybody;
import io.crail.rpc.login.Caller;
import io.crail.rpc.login.Claim;
import io.crail.rpc.login.ClientLogin;
import io.crail.rpc.login.Credentials;
import io.crail.rpc.login.Mechanism;
import io.crail.rpc.login.Mechanisms;
import io.crail.rpc.login.Right;
import io.crail.rpc.login.ServerLogin;
import io.crail.rpc.netty.NettyKeys;
import io.crail.rpc.netty.NettyTransport;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import io.crail.storage.network.DataHello;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Logins of several messages over data connections. */
class DataConnectionLoginTest {
  private static final int REGION = 1 << 20;
  private static final int CLIENT = 9;
  private static final long PATIENCE = 60_000_000_000L;
  private static final int CLOSE_MILLIS = 60_000;

  private final UUID uuid = UUID.randomUUID();
  private final List<String> dropped = new CopyOnWriteArrayList<>();
  private final List<Integer> messages = new CopyOnWriteArrayList<>();
  private ErrorCode refusal = ErrorCode.INVALID_ARGUMENT;
  private TcpStorageServer server;

  /**
   * Takes messages of one byte more each, and accepts the client after so many. Another message is
   * refused with {@link #refusal}.
   */
  private Mechanism growing(int rounds) {
    return new Mechanism() {
      @Override
      public int number() {
        return 200;
      }

      @Override
      public String name() {
        return "growing";
      }

      @Override
      public Acceptor begin(Claim claim) {
        int[] count = {0};
        return message -> {
          messages.add(message.length);
          if (message.length != ++count[0]) {
            throw refusal.exception("it does not grow");
          }
          return count[0] < rounds
              ? Reply.challenge(message)
              : Reply.accept(message, new Caller(claim.principal(), claim.client(), Right.ALL));
        };
      }
    };
  }

  /** Grows by so many bytes with each message. */
  private record Growth(int by) implements Credentials {
    @Override
    public int mechanism() {
      return 200;
    }

    @Override
    public Initiator begin(Claim claim) {
      return new Initiator() {
        @Override
        public byte[] first() {
          return new byte[1];
        }

        @Override
        public byte[] next(byte[] challenge) {
          return new byte[challenge.length + by];
        }

        @Override
        public void accepted(byte[] last) {
          // Any length is good.
        }
      };
    }
  }

  private void start(int rounds, String handshakeTimeout) throws IOException {
    Mechanisms mechanisms =
        rounds == 0 ? Mechanisms.ANYBODY : new Mechanisms(List.of(growing(rounds)));
    server =
        new TcpStorageServer(
            Configuration.builder()
                .set(TcpStorageKeys.PORT, 0)
                .set(TcpStorageKeys.MEMORY, TcpStorageKeys.Memory.ANONYMOUS)
                .set(TcpStorageKeys.STORAGE_LIMIT, REGION)
                .set(TcpStorageKeys.ALLOCATION_SIZE, REGION)
                .set(NettyKeys.HANDSHAKE_TIMEOUT, handshakeTimeout)
                .build()) {
          @Override
          public Mechanisms mechanisms() {
            return mechanisms;
          }

          @Override
          public void dropped(String peer, String why) {
            super.dropped(peer, why);
            dropped.add(why);
          }
        };
    server.start(uuid);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Writes a few bytes over a new connection. */
  private ErrorCode write(Credentials credentials) throws Exception {
    long generation = server.fence(0).generation() + 1;
    Configuration configuration = Configuration.defaults();
    try (NettyTransport transport = new NettyTransport(configuration);
        ClientLoop loop = transport.newClientLoop("login")) {
      StorageClient client =
          new TcpStorageTier()
              .createClient(
                  new StorageClient.Context(
                      configuration, transport, loop, CLIENT, (datanode, once) -> credentials));
      StorageEndpoint endpoint =
          client.connect(
              new DatanodeDescription(
                  uuid,
                  "tcp",
                  server.address(),
                  0,
                  TierTraits.ofMemory(FenceKind.GENERATION, true, ""),
                  Map.of()));
      Transfer transfer = new Transfer();
      Extent extent = new Extent(0, REGION, new Place(1, 0, 0, generation));
      transfer.prepare(
          ByteBuffer.allocateDirect(64), 0, 64, extent, 0, loop.clock().nanoTime() + PATIENCE);
      endpoint.write(transfer);
      assertTrue(loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE), "no end");
      endpoint.close();
      return transfer.failure() == null ? ErrorCode.OK : transfer.failure().code();
    }
  }

  private static ByteBuffer hello(UUID uuid, int length) throws CrailException {
    Credentials credentials = new Growth(length);
    DataHello.Request request =
        DataHello.request(uuid, CLIENT, new ClientLogin(credentials, Claim.ofClient(CLIENT)));
    int body = DataHello.Request.CODEC.length(request);
    ByteBuffer frame = RawClient.frame(DataNodeOperations.HELLO.number(), 0, body);
    DataHello.Request.CODEC.encode(request, frame, Frame.HEADER_LENGTH);
    return frame;
  }

  private static ByteBuffer login(int length) {
    Login.Request request = new Login.Request(SmallValue.of(new byte[length]));
    ByteBuffer frame =
        RawClient.frame(DataNodeOperations.LOGIN.number(), 0, Login.Request.CODEC.length(request));
    Login.Request.CODEC.encode(request, frame, Frame.HEADER_LENGTH);
    return frame;
  }

  @Test
  void aLoginTakesTheMessagesThatItNeeds() throws Exception {
    for (int rounds : new int[] {1, 3, ServerLogin.MOST_MESSAGES}) {
      messages.clear();
      start(rounds, "60s");
      assertEquals(ErrorCode.OK, write(new Growth(1)));
      assertEquals(rounds, messages.size());
      server.close();
    }
    start(0, "60s");
    assertEquals(ErrorCode.OK, write(Anybody.CREDENTIALS));
  }

  @Test
  void aRefusedLoginEndsTransfersWithItsReason() throws Exception {
    start(3, "60s");
    assertEquals(ErrorCode.INVALID_ARGUMENT, write(new Growth(2)));
    assertEquals(2, messages.size(), "one attempt");
    assertEquals(ErrorCode.UNAVAILABLE, write(Anybody.CREDENTIALS));
    messages.clear();
    refusal = ErrorCode.PROTOCOL;
    assertEquals(ErrorCode.PROTOCOL, write(new Growth(2)));
    assertEquals(2, messages.size(), "one attempt");
    server.close();
    start(ServerLogin.MOST_MESSAGES + 1, "60s");
    assertEquals(ErrorCode.PROTOCOL, write(new Growth(1)));
  }

  @Test
  void tooLongAMessageOfItsOwnEndsTransfers() throws Exception {
    start(3, "60s");
    assertEquals(ErrorCode.INVALID_ARGUMENT, write(new Growth(ServerLogin.MAX_MESSAGE)));
    assertEquals(1, messages.size(), "one attempt");
  }

  @Test
  void nothingIsServedBeforeTheEndOfALogin() throws Exception {
    start(3, "60s");
    ByteBuffer read = RawClient.read(1, 0, 0, 64, 1);
    for (ByteBuffer next : List.of(read, hello(uuid, 1), login(ServerLogin.MAX_MESSAGE + 1))) {
      dropped.clear();
      try (RawClient client = new RawClient(server.address())) {
        client.send(hello(uuid, 1));
        ByteBuffer answer = client.answer(0, ErrorCode.OK);
        assertTrue(DataHello.Response.CODEC.decode(answer, 0, answer.capacity()).more());
        client.send(next);
        assertTrue(client.isClosedWithin(CLOSE_MILLIS));
        assertEquals(1, dropped.size(), dropped::toString);
      }
    }
    try (RawClient client = new RawClient(server.address())) {
      client.send(login(1));
      assertTrue(client.isClosedWithin(CLOSE_MILLIS), "a login before hello");
    }
  }

  @Test
  void tooManyMessagesEndTheConnection() throws Exception {
    start(ServerLogin.MOST_MESSAGES + 1, "60s");
    try (RawClient client = new RawClient(server.address())) {
      client.send(hello(uuid, 1));
      for (int i = 2; i <= ServerLogin.MOST_MESSAGES + 1; i++) {
        client.answer(0, ErrorCode.OK);
        client.send(login(i));
      }
      assertEquals(ErrorCode.PROTOCOL, client.code(0));
      assertTrue(client.isClosedWithin(CLOSE_MILLIS));
    }
    assertEquals(ServerLogin.MOST_MESSAGES, messages.size());
  }

  @Test
  void silenceInTheMiddleEndsTheConnection() throws Exception {
    start(3, "200ms");
    try (RawClient silent = new RawClient(server.address());
        RawClient refused = new RawClient(server.address())) {
      silent.send(hello(uuid, 1));
      refused.send(hello(uuid, 1));
      refused.send(login(5));
      assertTrue(silent.isClosedWithin(CLOSE_MILLIS));
      assertTrue(refused.isClosedWithin(CLOSE_MILLIS));
    }
  }
}
