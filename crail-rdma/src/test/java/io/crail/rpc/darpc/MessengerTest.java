/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.rpc.darpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.Frame;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests both ends of connections over a simulated device. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class MessengerTest {
  private static final int SEEDS = 300;
  private static final int FRAMES = 400;

  /** Sends frames one after the other, and checks the incoming ones. */
  private abstract static class Side extends Messenger {
    final SimulatedPort port;
    final SendChunk.Pool pool;
    final Random random;
    long written;
    long received;
    long closesAt = -1;
    String ended;

    Side(SimulatedPort port, SendChunk.Pool pool, DarpcSettings settings, Random random)
        throws IOException {
      super(port, pool, settings);
      this.port = port;
      this.pool = pool;
      this.random = random;
    }

    static Side of(boolean server, DarpcSettings settings, Random random) throws IOException {
      SimulatedPort port = new SimulatedPort(settings);
      SendChunk.Pool pool = SimulatedPort.newPool();
      return server
          ? new Server(port, pool, settings, random)
          : new Client(port, pool, settings, random);
    }

    void write(int length, int kind, long id) throws IOException {
      SendChunk chunk = outgoing().room(length);
      int at = chunk.written;
      Frame.write(chunk.view(), at, length, 1, kind, id);
      for (int i = Frame.HEADER_LENGTH; i < length; i++) {
        chunk.view().put(at + i, (byte) (i * 31 + id));
      }
      outgoing().written(at + length, true);
      written++;
    }

    void check(ByteBuffer buffer, int offset, int length) {
      assertFalse(isClosed(), "a frame after the end");
      assertEquals(received, Frame.correlationId(buffer, offset));
      for (int i = Frame.HEADER_LENGTH; i < length; i++) {
        assertEquals((byte) (i * 31 + received), buffer.get(offset + i));
      }
      received++;
      if (received == closesAt) {
        end("as asked for");
      }
    }

    int anyLength() {
      int most =
          switch (random.nextInt(8)) {
            case 0 -> Math.min(Frame.MAX_LENGTH, maxFrameLength());
            case 1, 2 -> Math.min(6_000, maxFrameLength());
            default -> 90;
          };
      return Math.min(
          maxFrameLength(), Frame.HEADER_LENGTH + random.nextInt(most - Frame.HEADER_LENGTH + 1));
    }

    @Override
    void progressed() {}

    @Override
    void refuse(String why) {
      port.close(why);
    }

    @Override
    void ended(String cause) {
      assertNull(ended, "ended twice");
      ended = cause;
    }
  }

  private static final class Client extends Side {
    Client(SimulatedPort port, SendChunk.Pool pool, DarpcSettings settings, Random random)
        throws IOException {
      super(port, pool, settings, random);
    }

    @Override
    boolean holdsBack() {
      return false;
    }

    @Override
    void taken() {}

    @Override
    int keptFrames() {
      return 0;
    }

    @Override
    public boolean frame(ByteBuffer buffer, int offset, int length) {
      check(buffer, offset, length);
      return !isClosed();
    }

    @Override
    public boolean together(ByteBuffer buffer, int length) {
      frame(buffer, 0, length);
      return true;
    }

    void ask() throws IOException {
      if (outgoing().pendingBytes() < settings().outputLimit()) {
        write(anyLength(), Frame.KIND_REQUEST, written);
      }
    }
  }

  /** Answers each request with a frame of any length; sometimes not before its turn. */
  private static final class Server extends Side {
    // Where the frames are that were given and not answered, and how long.
    private final ArrayDeque<int[]> given = new ArrayDeque<>();
    private boolean waits;

    Server(SimulatedPort port, SendChunk.Pool pool, DarpcSettings settings, Random random)
        throws IOException {
      super(port, pool, settings, random);
    }

    @Override
    boolean holdsBack() {
      return waits || outgoing().pendingBytes() > settings().outputLimit();
    }

    @Override
    int keptFrames() {
      return given.size();
    }

    @Override
    public boolean frame(ByteBuffer buffer, int offset, int length) {
      given.add(new int[] {offset, length});
      return !holdsBack();
    }

    @Override
    public boolean together(ByteBuffer buffer, int length) {
      taken();
      waits |= random.nextInt(4) == 0;
      if (!waits && !isClosed()) {
        answer(buffer, 0, length);
      }
      // Nothing is taken after the end, whatever this asks for.
      return !waits;
    }

    @Override
    void taken() {
      while (!given.isEmpty() && !waits && !isClosed()) {
        waits = random.nextInt(50) == 0;
        if (!waits) {
          int[] frame = given.remove();
          answer(memory(), frame[0], frame[1]);
        }
      }
    }

    private void answer(ByteBuffer buffer, int offset, int length) {
      long id = Frame.correlationId(buffer, offset);
      check(buffer, offset, length);
      if (isClosed()) {
        return;
      }
      try {
        write(anyLength(), Frame.KIND_RESPONSE, id);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    /** It is its turn, if it waits for one. */
    boolean resume() {
      boolean waited = waits;
      if (waited) {
        waits = false;
        taken();
        advance();
      }
      return waited;
    }
  }

  private static DarpcSettings settings(
      int receives, int sends, int messageSize, int inlineBytes, long outputLimit) {
    return new DarpcSettings(
        null,
        1,
        1,
        false,
        List.of(),
        receives,
        sends,
        messageSize,
        inlineBytes,
        1,
        1,
        outputLimit,
        1,
        1,
        1);
  }

  private static DarpcSettings anySettings(Random random, int leastMessage) {
    return settings(
        4 + random.nextInt(random.nextBoolean() ? 4 : 40),
        4 + random.nextInt(random.nextBoolean() ? 4 : 40),
        leastMessage + random.nextInt(random.nextBoolean() ? 100 : 5_000),
        random.nextInt(300),
        1 + random.nextInt(100_000));
  }

  /** Two connected ends. */
  private static final class Pair {
    final Client client;
    final Server server;
    final Random random;

    Pair(Random random, DarpcSettings ofClient, DarpcSettings ofServer, boolean crails)
        throws IOException {
      this.random = random;
      this.client = (Client) Side.of(false, ofClient, random);
      this.server = (Server) Side.of(true, ofServer, random);
      client.port.connect(server.port, client);
      server.port.connect(client.port, server);
      client.open(crails ? ofServer.greeting() : null, Frame.KIND_RESPONSE);
      server.open(crails ? ofClient.greeting() : null, Frame.KIND_REQUEST);
    }

    void step(boolean asks) throws IOException {
      switch (random.nextInt(asks ? 8 : 6)) {
        case 0 -> client.port.deliver();
        case 1 -> server.port.deliver();
        case 2 -> client.port.poll(1 + random.nextInt(40));
        case 3 -> server.port.poll(1 + random.nextInt(40));
        case 4 -> server.resume();
        case 5 -> {
          if (random.nextInt(20) == 0) {
            server.outgoing().probe();
          }
        }
        default -> {
          for (int i = random.nextInt(30); i >= 0; i--) {
            client.ask();
          }
          client.outgoing().flush();
        }
      }
    }

    /** Lets everything go on that can, in an order of its own, until nothing can any more. */
    void settle() {
      boolean progress = true;
      while (progress) {
        progress = false;
        for (int i = 0; i < 5; i++) {
          progress |= step(i);
        }
      }
    }

    private boolean step(int what) {
      return switch (what) {
        case 0 -> client.port.deliver();
        case 1 -> server.port.deliver();
        case 2 -> client.port.poll(1 + random.nextInt(8));
        case 3 -> server.resume();
        default -> server.port.poll(1 + random.nextInt(8));
      };
    }

    void expectNothingLeft() {
      assertFalse(client.port.closed, client.ended);
      assertFalse(server.port.closed, server.ended);
      assertEquals(client.written, server.received, "requests");
      assertEquals(client.written, client.received, "answers");
      assertEquals(0, client.outgoing().pendingBytes());
      assertEquals(0, server.outgoing().pendingBytes());
      assertFalse(server.isHolding());
      assertFalse(server.outgoing().isUnacknowledged());
      assertEquals(0, client.pool.used(), "an idle client's memory");
      assertEquals(0, server.pool.used(), "an idle server's memory");
    }
  }

  private static Random random(long seed) {
    return new Random(seed);
  }

  private static long seed() {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("seed " + seed);
    return seed;
  }

  @Test
  void carriesEverythingInOrderAndNeverStops() throws Exception {
    long seed = seed();
    for (int s = 0; s < SEEDS; s++) {
      Random random = random(seed + s);
      Pair pair = new Pair(random, anySettings(random, 64), anySettings(random, 64), true);
      while (pair.client.written < FRAMES) {
        for (int i = random.nextInt(400); i >= 0; i--) {
          pair.step(pair.client.written < FRAMES);
        }
        // Whatever state it is in, it must come to its end without new requests.
        pair.settle();
        pair.expectNothingLeft();
      }
      long others = pair.client.port.withContent + pair.server.port.withContent;
      long without = pair.client.port.without + pair.server.port.without;
      assertTrue(without <= others, without + " empty messages, " + others + " others, seed " + s);
    }
  }

  @Test
  void takesNothingMoreWhenAFrameHasEndedTheConnection() throws Exception {
    long seed = seed();
    for (int s = 0; s < SEEDS; s++) {
      Random random = random(seed + s);
      Pair pair = new Pair(random, anySettings(random, 64), anySettings(random, 64), true);
      Side closing = random.nextBoolean() ? pair.client : pair.server;
      closing.closesAt = 1 + random.nextInt(20);
      while (!closing.isClosed()) {
        pair.step(true);
      }
      assertEquals("as asked for", closing.ended, () -> "seed " + seed);
      assertEquals(0, closing.pool.used(), "memory");
    }
  }

  @Test
  void asksForOneAcknowledgementAtATime() throws Exception {
    DarpcSettings settings = settings(4, 4, 128, 300, 1 << 20);
    for (boolean crails : new boolean[] {true, false}) {
      Pair pair = new Pair(random(1), settings, settings, crails);
      for (int i = 1; i <= 20; i++) {
        pair.server.outgoing().probe();
        pair.server.outgoing().probe();
        assertEquals(i, pair.server.port.probes);
        assertTrue(pair.server.outgoing().isUnacknowledged());
        pair.settle();
        assertFalse(pair.server.outgoing().isUnacknowledged());
        assertEquals(i, pair.server.outgoing().ended());
      }
      // It costs the peer neither receive requests nor credits.
      assertEquals(0, pair.client.port.without + pair.server.port.without);
      pair.client.ask();
      pair.client.outgoing().flush();
      pair.settle();
      pair.expectNothingLeft();
    }
  }

  @Test
  void packsManyFramesIntoFewMessages() throws Exception {
    DarpcSettings settings = settings(32, 32, 4096, 0, 1 << 20);
    Pair pair = new Pair(random(1), settings, settings, true);
    for (int i = 0; i < 128; i++) {
      pair.client.write(60, Frame.KIND_REQUEST, i);
    }
    pair.client.outgoing().flush();
    assertEquals(2, pair.client.port.withContent);
    pair.settle();
    assertEquals(128, pair.server.received);
  }

  @Test
  void speaksPlainDarpcToOthers() throws Exception {
    long seed = seed();
    for (int s = 0; s < SEEDS; s++) {
      Random random = random(seed + s);
      // Both have to be configured to the same.
      DarpcSettings settings = anySettings(random, 100);
      Pair pair = new Pair(random, settings, settings, false);
      while (pair.client.written < FRAMES) {
        for (int i = random.nextInt(200); i >= 0; i--) {
          pair.step(true);
        }
        pair.settle();
        pair.expectNothingLeft();
      }
      assertEquals(pair.client.written, pair.client.port.withContent, "a frame in each message");
      assertEquals(pair.client.written, pair.server.port.withContent, "a frame in each message");
      assertEquals(0, pair.client.port.without + pair.server.port.without);
    }
  }

  @Test
  void givesAnswersTheTicketsOfTheirRequests() throws Exception {
    DarpcSettings settings = settings(8, 8, 128, 0, 1 << 20);
    Pair pair = new Pair(random(1), settings, settings, false);
    byte[][] requests = new byte[3][];
    for (int i = 0; i < 3; i++) {
      ByteBuffer request = ByteBuffer.allocate(20);
      request.putInt(1_000_000 + i).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(request, 4, 16, 1, Frame.KIND_REQUEST, i);
      requests[i] = request.array();
      pair.server.port.arrive(requests[i]);
    }
    pair.server.port.poll(8);
    for (int i = 0; i < 3; i++) {
      assertTrue(pair.server.port.deliver());
      ByteBuffer memory = pair.client.port.memory();
      assertEquals(1_000_000 + i, Integer.reverseBytes(memory.getInt(pair.client.port.offset(i))));
    }
  }

  @Test
  void closesTheConnectionOfABrokenPlainPeer() throws Exception {
    DarpcSettings settings = settings(8, 8, 128, 0, 1 << 20);
    byte[] request = message(7, 16, Frame.KIND_REQUEST, Frame.VERSION);
    // Without a frame, and a doubled correlation id.
    for (List<byte[]> messages : List.of(List.of(new byte[19]), List.of(request, request))) {
      Pair pair = new Pair(random(1), settings, settings, false);
      messages.forEach(pair.server.port::arrive);
      pair.server.port.poll(8);
      assertTrue(pair.server.port.closed, () -> messages.size() + " messages");
    }
    // An answer to no request.
    Pair pair = new Pair(random(1), settings, settings, false);
    pair.client.port.arrive(message(7, 16, Frame.KIND_RESPONSE, Frame.VERSION));
    pair.client.port.poll(8);
    assertTrue(pair.client.port.closed);
  }

  @Test
  void remembersAFewTimesTheRequestsThatMayBeInFlight() throws Exception {
    DarpcSettings settings = settings(8, 8, 128, 0, 1 << 20);
    Tickets tickets = new Tickets(settings, true);
    ByteBuffer request = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 32; i++) {
      Frame.write(request, 0, 16, 1, Frame.KIND_REQUEST, i);
      tickets.received(i, request, 0, 16);
    }
    Frame.write(request, 0, 16, 1, Frame.KIND_REQUEST, 32);
    assertThrows(CrailException.class, () -> tickets.received(32, request, 0, 16));
    Frame.write(request, 0, 16, 1, Frame.KIND_RESPONSE, 5);
    tickets.cut(request, 0, 16);
    assertEquals(5, tickets.send());
    Frame.write(request, 0, 16, 1, Frame.KIND_REQUEST, 32);
    tickets.received(32, request, 0, 16);
  }

  @Test
  void reportsATooLongAnswerToAPlainPeer() {
    Tickets tickets = new Tickets(settings(8, 8, 128, 0, 1 << 20), true);
    ByteBuffer answer = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(answer, 0, 200, 0, Frame.KIND_RESPONSE, 1);
    assertEquals(200, tickets.cut(answer, 0, 200));
    assertEquals(ErrorCode.LIMIT_EXCEEDED.number(), Frame.code(answer, 0));
    assertEquals(tickets.contentLength(), Frame.length(answer, 0));
    assertTrue(tickets.contentLength() <= tickets.maxFrameLength());
  }

  @Test
  void closesTheConnectionOfABrokenPeer() throws Exception {
    List<byte[]> messages =
        List.of(
            new byte[0],
            new byte[3],
            // Credits that were never taken.
            message(9, 0, 0, 0),
            message(-1, 0, 0, 0),
            message(Integer.MAX_VALUE, 16, 1, Frame.VERSION),
            // Frames that are none.
            message(0, 15, 0, Frame.VERSION),
            message(0, Frame.MAX_LENGTH + 1, 0, Frame.VERSION),
            message(0, 16, 0, 99),
            message(0, 16, 1, Frame.VERSION));
    for (byte[] message : messages) {
      DarpcSettings settings = settings(8, 8, 128, 0, 1 << 20);
      Pair pair = new Pair(random(1), settings, settings, true);
      pair.client.write(80, Frame.KIND_REQUEST, 0);
      pair.client.outgoing().flush();
      pair.client.port.deliver();
      pair.server.port.poll(1);
      pair.server.port.arrive(message);
      pair.server.port.poll(1);
      for (int i = 0; i < 100; i++) {
        pair.server.resume();
      }
      assertTrue(pair.server.port.closed, () -> "message of " + message.length + " bytes");
      assertTrue(pair.server.port.released);
      assertEquals(0, pair.server.pool.used());
    }
  }

  private static byte[] message(int header, int frameLength, int kind, int version) {
    ByteBuffer message = ByteBuffer.allocate(frameLength == 0 ? 4 : 20).putInt(header);
    if (frameLength != 0) {
      message.order(ByteOrder.LITTLE_ENDIAN).putInt(frameLength).putShort((short) 1);
      message.put((byte) version).put((byte) kind);
    }
    return message.array();
  }

  @Test
  void talksOnlyWhenItIsOpen() throws Exception {
    DarpcSettings settings = settings(8, 8, 128, 0, 1 << 20);
    Client early = (Client) Side.of(false, settings, random(1));
    early.port.connect(early.port, early);
    ByteBuffer answer = ByteBuffer.allocate(20).putInt(0).order(ByteOrder.LITTLE_ENDIAN);
    Frame.write(answer, 4, 16, 0, Frame.KIND_RESPONSE, 0);
    early.port.arrive(answer.array());
    early.port.poll(8);
    assertEquals(0, early.received);
    early.open(settings.greeting(), Frame.KIND_RESPONSE);
    early.advance();
    assertEquals(1, early.received);
  }
}
