/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.tcp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.part.Generation;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.NettyKeys;
import io.crail.storage.region.Hazard;
import io.netty.channel.uring.IoUring;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the server over raw sockets, with bytes and times that a correct client never has. */
class DataServerEndTest {
  private static final int REGION = 32 << 20;
  private static final int HEAD = Frame.HEADER_LENGTH + WriteData.Request.LAYOUT.fixedLength();
  private static final int CLOSE_MILLIS = 60_000;
  private static final long PATIENCE_NANOS = CLOSE_MILLIS * 1_000_000L;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final UUID uuid = UUID.randomUUID();
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final List<String> ends = new CopyOnWriteArrayList<>();
  private TcpStorageServer server;

  @BeforeEach
  void start() throws IOException {
    System.out.println("-Dcrail.seed=" + seed);
    start(Configuration.builder());
  }

  private void start(Configuration.Builder settings) throws IOException {
    server =
        new TcpStorageServer(
            settings
                .set(TcpStorageKeys.PORT, 0)
                .set(TcpStorageKeys.MEMORY, TcpStorageKeys.Memory.ANONYMOUS)
                .set(TcpStorageKeys.STORAGE_LIMIT, REGION)
                .set(TcpStorageKeys.ALLOCATION_SIZE, REGION)
                .build()) {
          @Override
          public void ended(String peer, String why) {
            super.ended(peer, why);
            ends.add(why);
          }

          @Override
          public void dropped(String peer, String why) {
            super.dropped(peer, why);
            warnings.add(why);
          }
        };
    server.start(uuid);
  }

  private void restart(Configuration.Builder settings) throws IOException {
    server.close();
    start(settings);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** However much a tuned kernel would take. */
  private static Configuration.Builder smallBuffers() {
    return Configuration.builder().set(NettyKeys.SEND_BUFFER, "256k");
  }

  private RawClient connect() throws IOException {
    return new RawClient(server.address());
  }

  /** A good client, though the server may close a connection before its handshake has come. */
  private RawClient awaitGreeted() throws IOException {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      RawClient client = connect();
      try {
        return client.greet(uuid);
      } catch (IOException e) {
        client.close();
        assertTrue(System.nanoTime() - end < 0, e.toString());
      }
    }
  }

  private byte[] randomBytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] dataOf(ByteBuffer answer, int length) {
    byte[] data = new byte[length];
    answer.get(ReadData.Response.LAYOUT.fixedLength(), data);
    return data;
  }

  @Test
  void brokenFramesEndTheirConnectionOnly() throws IOException {
    try (RawClient good = connect().greet(uuid)) {
      for (ByteBuffer bad : brokenFrames()) {
        try (RawClient client = connect().greet(uuid)) {
          client.send(bad);
          assertTrue(client.isClosedWithin(CLOSE_MILLIS), () -> "still open after " + bytes(bad));
        }
      }
      ping(good, 1);
      assertRefused(brokenFrames().size(), ErrorCode.PROTOCOL);
    }
  }

  @Test
  void aClientThatVanishesIsNothingToWarnOf() throws IOException {
    for (boolean greeted : new boolean[] {true, false}) {
      RawClient client = connect();
      if (greeted) {
        client.greet(uuid);
      }
      client.reset();
    }
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (ends.size() < 2) {
      assertTrue(System.nanoTime() - end < 0, () -> "ends " + ends + ", warnings " + warnings);
      Thread.onSpinWait();
    }
    assertEquals(List.of(), warnings);
    try (RawClient client = connect().greet(uuid)) {
      client.send(RawClient.frame(77, 1, 0));
      assertTrue(client.isClosedWithin(CLOSE_MILLIS));
    }
    assertEquals(1, warnings.size(), warnings.toString());
    assertEquals(2, ends.size(), ends.toString());
  }

  private static String bytes(ByteBuffer buffer) {
    return java.util.HexFormat.of().formatHex(buffer.array(), 0, Math.min(64, buffer.capacity()));
  }

  private List<ByteBuffer> brokenFrames() {
    List<ByteBuffer> frames = new ArrayList<>();
    // Header: length below the least and above the most, version, kind, opcode.
    frames.add(RawClient.read(1, 0, 0, 1, 1).putInt(0, Frame.HEADER_LENGTH - 1));
    frames.add(RawClient.read(1, 0, 0, 1, 1).putInt(0, -1));
    frames.add(RawClient.read(1, 0, 0, 1, 1).putInt(0, Integer.MAX_VALUE));
    frames.add(RawClient.read(1, 0, 0, 1, 1).put(6, (byte) (Frame.VERSION + 1)));
    frames.add(RawClient.read(1, 0, 0, 1, 1).put(7, (byte) Frame.KIND_RESPONSE));
    frames.add(RawClient.frame(0, 1, 0));
    frames.add(RawClient.frame(77, 1, 0));
    // Bodies that are too short, too long, or lie about their data.
    frames.add(RawClient.frame(DataNodeOperations.READ.number(), 1, 0));
    frames.add(RawClient.frame(DataNodeOperations.READ.number(), 1, 23));
    frames.add(RawClient.frame(DataNodeOperations.READ.number(), 1, 25));
    frames.add(RawClient.read(1, 0, 0, 0, 1));
    frames.add(RawClient.read(1, 0, 0, -1, 1));
    frames.add(RawClient.read(1, 0, 0, DataNodeOperations.MAX_DATA_LENGTH + 1, 1));
    frames.add(RawClient.frame(DataNodeOperations.PING.number(), 1, 1000));
    frames.add(RawClient.frame(DataNodeOperations.WRITE.number(), 1, 3));
    frames.add(RawClient.write(1, 0, 0, new byte[10], 1).putInt(HEAD - 20, 11));
    frames.add(RawClient.write(1, 0, 0, new byte[10], 1).putInt(HEAD - 20, 9));
    frames.add(RawClient.write(1, 0, 0, new byte[10], 1).putInt(HEAD - 20, -1));
    frames.add(RawClient.write(1, 0, 0, new byte[0], 1));
    // A second handshake that is none.
    frames.add(RawClient.hello(uuid).putInt(Frame.HEADER_LENGTH, 1));
    return frames;
  }

  @Test
  void garbageEndsItsConnectionOnly() throws IOException {
    try (RawClient good = connect().greet(uuid)) {
      for (int i = 0; i < 50; i++) {
        try (RawClient client = connect()) {
          if (i % 2 == 0) {
            client.greet(uuid);
          }
          byte[] garbage = randomBytes(16 + random.nextInt(100_000));
          // Not by chance the beginning of a good frame.
          garbage[6] = 99;
          try {
            client.send(garbage, 0, garbage.length);
          } catch (IOException e) {
            // It was closed already.
          }
          assertTrue(client.isClosedWithin(CLOSE_MILLIS));
        }
      }
      ping(good, 1);
    }
  }

  @Test
  void nothingIsServedBeforeTheHandshake() throws IOException {
    try (RawClient client = connect()) {
      client.send(RawClient.read(1, 0, 0, 1, 1));
      assertTrue(client.isClosedWithin(CLOSE_MILLIS));
    }
  }

  @Test
  void anotherProcessIsNotServed() throws IOException {
    try (RawClient client = connect()) {
      client.send(RawClient.hello(UUID.randomUUID()));
      client.answer(0, ErrorCode.DATA_LOST);
      assertRefused(1, ErrorCode.DATA_LOST);
      client.send(RawClient.read(1, 0, 0, 1, 1));
      assertTrue(client.isClosedWithin(CLOSE_MILLIS));
    }
  }

  @Test
  void aServerThatEndsEndsItsConnections() throws IOException {
    List<NettyKeys.Io> all = new ArrayList<>(List.of(NettyKeys.Io.AUTO, NettyKeys.Io.NIO));
    if (IoUring.isAvailable()) {
      all.add(NettyKeys.Io.IO_URING);
    }
    byte[] data = randomBytes(1 << 20);
    for (NettyKeys.Io io : all) {
      for (int round = 0; round < 10; round++) {
        restart(Configuration.builder().set(NettyKeys.IO, io).set(TcpStorageKeys.CORES, 4));
        List<RawClient> clients = new ArrayList<>();
        try {
          for (int i = 0; i < 12; i++) {
            RawClient client = connect().greet(uuid);
            clients.add(client);
            client.send(RawClient.write(1, 0, (long) i << 20, data, 5));
            client.answer(1, ErrorCode.OK);
            client.send(RawClient.read(2, 0, (long) i << 20, data.length, 5));
          }
          server.close();
          for (RawClient client : clients) {
            assertTrue(client.isClosedWithin(CLOSE_MILLIS), io + " has left a connection behind");
          }
        } finally {
          for (RawClient client : clients) {
            client.close();
          }
        }
      }
    }
  }

  @Test
  void aConnectionWithoutAHandshakeIsClosed() throws IOException {
    restart(Configuration.builder().set(NettyKeys.HANDSHAKE_TIMEOUT, "2s"));
    try (RawClient client = connect();
        RawClient good = awaitGreeted()) {
      client.send(RawClient.hello(uuid).array(), 0, 10);
      assertTrue(client.isClosedWithin(CLOSE_MILLIS));
      assertFalse(good.isClosedWithin(300));
    }
  }

  @Test
  void connectionsAboveTheLimitAreClosed() throws IOException {
    restart(Configuration.builder().set(TcpStorageKeys.CONNECTION_LIMIT, 2));
    try (RawClient first = connect().greet(uuid);
        RawClient second = connect().greet(uuid);
        RawClient third = connect()) {
      assertTrue(third.isClosedWithin(CLOSE_MILLIS));
      ping(first, 1);
      second.close();
      // Its place is free as soon as the server has seen the end.
      awaitGreeted().close();
    }
  }

  @Test
  void dataThatDoNotComeCostTheConnection() throws IOException {
    restart(Configuration.builder().set(TcpStorageKeys.WRITE_TIMEOUT, "200ms"));
    byte[] data = randomBytes(100_000);
    for (int sent : new int[] {HEAD, HEAD + 1, HEAD + 20_000, HEAD + 99_999}) {
      try (RawClient slow = connect().greet(uuid);
          RawClient good = connect().greet(uuid)) {
        long startNanos = System.nanoTime();
        slow.send(RawClient.write(1, 0, 0, data, 1 + sent).array(), 0, sent);
        assertTrue(slow.isClosedWithin(CLOSE_MILLIS));
        assertTrue(System.nanoTime() - startNanos > 100_000_000, "closed too early");
        ping(good, 1);
        assertFalse(good.isClosedWithin(300), "an idle connection was closed");
      }
    }
  }

  @Test
  void manyThatReadNothingHoldNoMoreThanTheLimit() throws IOException {
    long limit = 8 << 20;
    restart(
        Configuration.builder()
            .set(NettyKeys.SEND_BUFFER, "64k")
            .set(TcpStorageKeys.CORES, 1)
            .set(NettyKeys.HELD_LIMIT, limit));
    byte[] data = randomBytes(60_000);
    List<RawClient> silent = new ArrayList<>();
    try (RawClient good = connect().greet(uuid)) {
      good.send(RawClient.write(1, 0, 0, data, 7));
      good.answer(1, ErrorCode.OK);
      for (int i = 0; i < 100; i++) {
        RawClient one = connect().greet(uuid);
        silent.add(one);
        ByteBuffer request = RawClient.read(1, 0, 0, data.length, 7);
        for (int times = 0; times < 100; times++) {
          one.send(request);
        }
        good.send(RawClient.read(i, 0, 0, data.length, 7));
        assertArrayEquals(data, dataOf(good.answer(i, ErrorCode.OK), data.length));
      }
      assertTrue(server.peakHeldBytes() > limit / 2, () -> server.peakHeldBytes() + " bytes");
      assertTrue(
          server.peakHeldBytes() <= limit + (1 << 20), () -> server.peakHeldBytes() + " bytes");
      for (RawClient one : silent) {
        one.close();
      }
      long end = System.nanoTime() + PATIENCE_NANOS;
      while (server.connections().getAsInt() > 1 || server.heldBytes() > 0) {
        assertTrue(System.nanoTime() - end < 0, "held for peers that have gone");
        Thread.onSpinWait();
      }
      ping(good, 1);
    } finally {
      for (RawClient one : silent) {
        one.close();
      }
    }
  }

  @Test
  void framesMayComeInAnyPieces() throws IOException {
    byte[] data = randomBytes(30_000);
    ByteBuffer all =
        ByteBuffer.allocate(200_000)
            .put(RawClient.hello(uuid).array())
            .put(RawClient.write(1, 0, 5000, data, 7).array())
            .put(RawClient.read(2, 0, 5000, data.length, 7).array())
            .put(RawClient.write(3, 0, 1 << 20, new byte[] {42}, 8).array())
            .put(RawClient.read(4, 0, 1 << 20, 1, 8).array());
    int length = all.position();
    for (int round = 0; round < 20; round++) {
      try (RawClient client = connect()) {
        for (int at = 0; at < length; ) {
          int piece = Math.min(length - at, 1 + random.nextInt(round < 2 ? 3 : 9000));
          client.send(all.array(), at, piece);
          at += piece;
        }
        client.answer(0, ErrorCode.OK);
        client.answer(1, ErrorCode.OK);
        assertArrayEquals(data, dataOf(client.answer(2, ErrorCode.OK), data.length));
        client.answer(3, ErrorCode.OK);
        assertArrayEquals(new byte[] {42}, dataOf(client.answer(4, ErrorCode.OK), 1));
      }
    }
  }

  @Test
  void answersComeInTheOrderOfTheRequests() throws IOException {
    try (RawClient client = connect().greet(uuid)) {
      byte[] small = randomBytes(100);
      byte[] large = randomBytes(300_000);
      ByteBuffer burst = ByteBuffer.allocate(4 << 20);
      int rounds = 5;
      for (int i = 0; i < rounds; i++) {
        long id = 10L * i;
        burst.put(RawClient.write(id + 1, 0, 0, small, 5).array());
        burst.put(RawClient.write(id + 2, 0, 1 << 20, large, 5).array());
        burst.put(RawClient.read(id + 3, 0, 1 << 20, large.length, 5).array());
        burst.put(RawClient.read(id + 4, 0, 0, small.length, 5).array());
        burst.put(RawClient.read(id + 5, 0, 0, small.length, 4).array());
        burst.put(RawClient.read(id + 6, 9, 0, small.length, 5).array());
      }
      client.send(burst.array(), 0, burst.position());
      for (int i = 0; i < rounds; i++) {
        long id = 10L * i;
        client.answer(id + 1, ErrorCode.OK);
        client.answer(id + 2, ErrorCode.OK);
        ByteBuffer answer = client.answer(id + 3, ErrorCode.OK);
        assertEquals(1, answer.getInt(ReadData.Response.TRAILER));
        assertArrayEquals(large, dataOf(answer, large.length));
        client.answer(id + 3, ErrorCode.OK);
        answer = client.answer(id + 4, ErrorCode.OK);
        assertEquals(0, answer.getInt(ReadData.Response.TRAILER));
        assertArrayEquals(small, dataOf(answer, small.length));
        client.answer(id + 5, ErrorCode.STALE_EXTENT);
        client.answer(id + 6, ErrorCode.OUT_OF_RANGE);
      }
      assertRefused(rounds, ErrorCode.STALE_EXTENT);
      assertRefused(rounds, ErrorCode.OUT_OF_RANGE);
      assertRefused(0, ErrorCode.OK);
    }
  }

  /** Of a long one the rest goes straight into the region, of a short one with what follows. */
  @ParameterizedTest
  @ValueSource(ints = {DataNodeOperations.SMALLEST_PLACED / 2, 1 << 20})
  void aWriteThatIsOvertakenPlacesNothingMore(int length) throws IOException {
    byte[] old = randomBytes(length);
    byte[] young = randomBytes(length);
    try (RawClient slow = connect().greet(uuid);
        RawClient quick = connect().greet(uuid)) {
      ByteBuffer late = RawClient.write(1, 0, 0, old, 100);
      int half = late.capacity() / 2;
      slow.send(late.array(), 0, half);
      // Until the server has taken the header, or the later write would not overtake anything.
      awaitGeneration(100);
      // The thread that places the first half may have lost its processor meanwhile.
      ErrorCode code = ErrorCode.SPACE_PINNED;
      for (long id = 1; code == ErrorCode.SPACE_PINNED && id < 1000; id++) {
        quick.send(RawClient.write(id, 0, 0, young, 101));
        code = quick.code(id);
      }
      assertEquals(ErrorCode.OK, code);
      slow.send(late.array(), half, late.capacity() - half);
      slow.answer(1, ErrorCode.STALE_EXTENT);
      ping(slow, 2);
      quick.send(RawClient.read(1000, 0, 0, young.length, 101));
      assertArrayEquals(young, dataOf(quick.answer(1000, ErrorCode.OK), young.length));
      if (length > DataNodeOperations.LARGEST_COPIED_READ) {
        quick.answer(1000, ErrorCode.OK);
      }
    }
  }

  @Test
  void aStoppedOlderWriteKeepsOthersFromItsSpace() throws IOException {
    byte[] data = randomBytes(8 << 10);
    Hazard stopped = server.hosted().hazards().claim(99);
    stopped.announce(0, 4 << 10, 1, 50);
    try (RawClient client = connect().greet(uuid)) {
      client.send(RawClient.write(1, 0, 0, data, 51));
      client.answer(1, ErrorCode.SPACE_PINNED);
      client.send(RawClient.write(2, 0, 0, data, 51));
      client.answer(2, ErrorCode.SPACE_PINNED);
      client.send(RawClient.write(3, 0, 8 << 10, data, 51));
      client.answer(3, ErrorCode.OK);
      stopped.retract();
      client.send(RawClient.write(4, 0, 0, data, 51));
      client.answer(4, ErrorCode.OK);
    }
  }

  @Test
  void anUnknownGenerationTakesNoSpace() throws IOException {
    byte[] data = randomBytes(20_000);
    try (RawClient client = connect().greet(uuid)) {
      for (long lie : new long[] {Long.MAX_VALUE, Generation.MAX + 1}) {
        client.send(RawClient.write(1, 0, 0, data, lie));
        client.answer(1, ErrorCode.INVALID_ARGUMENT);
      }
      assertRefused(2, ErrorCode.INVALID_ARGUMENT);
      // The connection is in step, and the space is free for all.
      long good = Generation.MAX;
      client.send(RawClient.write(2, 0, 0, data, good));
      client.answer(2, ErrorCode.OK);
      client.send(RawClient.read(3, 0, 0, data.length, good));
      assertArrayEquals(data, dataOf(client.answer(3, ErrorCode.OK), data.length));
    }
  }

  @Test
  void theDefaultDirectoryGoesWithItsLastDatanode() throws IOException {
    TcpStorageServer inFiles =
        new TcpStorageServer(
            Configuration.builder()
                .set(TcpStorageKeys.PORT, 0)
                .set(TcpStorageKeys.STORAGE_LIMIT, 1 << 20)
                .set(TcpStorageKeys.ALLOCATION_SIZE, 1 << 20)
                .build());
    inFiles.start(UUID.randomUUID());
    java.io.File parent = new java.io.File(inFiles.traits().directory().toString()).getParentFile();
    assertTrue(parent.isDirectory());
    inFiles.close();
    String[] left = parent.list();
    assertTrue(left == null || left.length > 0, parent + " is empty and still there");
  }

  private void awaitGeneration(long generation) {
    long end = System.nanoTime() + PATIENCE_NANOS;
    while (server.hosted().get(0).generations().generation(0) != generation) {
      assertTrue(System.nanoTime() < end, "the write never began");
      Thread.onSpinWait();
    }
  }

  @Test
  void aReadThatIsOvertakenSaysSoInItsTrailer() throws IOException {
    // More than the kernel takes at once, so that the server is still sending.
    restart(smallBuffers());
    byte[] data = randomBytes(24 << 20);
    try (RawClient slow = connect().greet(uuid);
        RawClient quick = connect().greet(uuid)) {
      quick.send(RawClient.write(1, 0, 0, data, 200));
      quick.answer(1, ErrorCode.OK);
      slow.send(RawClient.read(1, 0, 0, data.length, 200));
      ByteBuffer head = slow.take(Frame.HEADER_LENGTH);
      assertEquals(ErrorCode.OK.number(), Frame.code(head, 0));
      quick.send(RawClient.write(2, 0, data.length - 1, new byte[] {1}, 201));
      quick.answer(2, ErrorCode.OK);
      slow.take(Frame.length(head, 0) - Frame.HEADER_LENGTH);
      slow.answer(1, ErrorCode.STALE_EXTENT);
      assertRefused(1, ErrorCode.STALE_EXTENT);
      ping(slow, 2);
    }
  }

  @Test
  void aClientThatTakesNothingCostsNothingAndGetsEverythingLater() throws Exception {
    byte[] data = randomBytes(1 << 20);
    try (RawClient client = connect().greet(uuid);
        RawClient good = connect().greet(uuid)) {
      client.send(RawClient.write(1, 0, 0, data, 5));
      client.answer(1, ErrorCode.OK);
      int reads = 2000;
      Thread sender =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < reads; i++) {
                    client.send(RawClient.read(i, 0, 0, i % 10 == 0 ? data.length : 60_000, 5));
                  }
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      sender.start();
      for (int i = 0; i < 100; i++) {
        ping(good, i);
      }
      for (int i = 0; i < reads; i++) {
        int length = i % 10 == 0 ? data.length : 60_000;
        ByteBuffer answer = client.answer(i, ErrorCode.OK);
        assertEquals(length, answer.getInt(ReadData.Response.DATA_LENGTH));
        assertEquals(data[length - 1], answer.get(answer.capacity() - 1));
        if (i % 10 == 0) {
          client.answer(i, ErrorCode.OK);
        }
      }
      sender.join(CLOSE_MILLIS);
      assertFalse(sender.isAlive());
    }
  }

  @Test
  void aClientThatTakesNothingForLongIsClosed() throws IOException {
    restart(smallBuffers().set(NettyKeys.STALL_TIMEOUT, "300ms"));
    try (RawClient client = connect().greet(uuid)) {
      client.send(RawClient.write(1, 0, 0, new byte[24 << 20], 5));
      client.answer(1, ErrorCode.OK);
      client.send(RawClient.read(2, 0, 0, 24 << 20, 5));
      client.take(Frame.HEADER_LENGTH);
      long end = System.nanoTime() + PATIENCE_NANOS;
      while (server.connections().getAsInt() > 0) {
        assertTrue(System.nanoTime() < end, "the connection is still there");
        Thread.onSpinWait();
      }
    }
  }

  private void assertRefused(long expected, ErrorCode error) {
    assertEquals(expected, server.refusals(error), error::toString);
  }

  private static void ping(RawClient client, long id) throws IOException {
    ByteBuffer frame =
        RawClient.frame(DataNodeOperations.PING.number(), id, Ping.Request.LAYOUT.fixedLength());
    client.send(frame.putLong(Frame.HEADER_LENGTH, 77 + id));
    assertEquals(77 + id, client.answer(id, ErrorCode.OK).getLong(0));
  }
}
