/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import io.crail.common.config.Configuration;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.Ping;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.Generation;
import io.crail.rpc.Frame;
import io.crail.rpc.netty.NettyKeys;
import io.crail.storage.StorageServer;
import io.crail.storage.network.DataHello;
import io.crail.storage.tcp.DataNodeOperations;
import io.crail.storage.tcp.ReadData;
import io.crail.storage.tcp.TcpStorageKeys;
import io.crail.storage.tcp.TcpStorageTier;
import io.crail.storage.tcp.WriteData;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A data connection over a socket, with the pieces that the input defines. A valid request must be
 * answered as the model says, byte for byte. After an invalid one the connection must end, and
 * until then only whole frames may come. No error may be logged.
 *
 * <pre>{ [what][choices ...] } ...</pre>
 */
final class DatanodeTarget implements Target {
  private static final int REGION = 256 << 10;
  private static final int REGIONS = 2;
  private static final String PATIENCE = "60s";
  private static final int MOST_STEPS = 24;
  private static final int TIMEOUT_MILLIS = 20_000;
  private static final long[] OFFSETS = {
    0,
    1,
    4095,
    4096,
    65_536,
    REGION - 1,
    REGION,
    REGION - 4096,
    -1,
    1L << 32,
    1L << 31,
    Long.MAX_VALUE,
    Long.MIN_VALUE
  };
  private static final int[] LENGTHS = {
    1,
    2,
    4095,
    4096,
    4097,
    8191,
    8192,
    65_536,
    65_537,
    200_000,
    REGION,
    REGION + 1,
    DataNodeOperations.MAX_DATA_LENGTH,
    0,
    -1,
    Integer.MAX_VALUE,
    Integer.MIN_VALUE
  };
  private static final int MOST_SENT = REGION + 1;
  private static final int LARGE = 32 << 10;

  private final ErrorLog log = new ErrorLog();
  private final UUID uuid = new UUID(1, 2);
  private StorageServer server;

  /** Each input has its own generations, so it finds no bytes of earlier inputs. */
  private long base;

  DatanodeTarget() throws IOException {
    start();
  }

  private void start() throws IOException {
    server =
        new TcpStorageTier()
            .createServer(
                Configuration.builder()
                    .set(TcpStorageKeys.MEMORY, TcpStorageKeys.Memory.ANONYMOUS)
                    .set(TcpStorageKeys.STORAGE_LIMIT, REGIONS * REGION)
                    .set(TcpStorageKeys.ALLOCATION_SIZE, REGION)
                    .set(TcpStorageKeys.CORES, 1)
                    .set(NettyKeys.HANDSHAKE_TIMEOUT, PATIENCE)
                    .build(),
                List.of("-p", "0"));
    server.start(uuid);
  }

  @Override
  public void run(byte[] bytes) throws IOException {
    base = newGenerations();
    if (base > Generation.MAX - 2 * Generation.GAP) {
      // An input has guessed a very large generation.
      server.close();
      start();
      base = newGenerations();
    }
    try {
      new Play(new Input(bytes)).go();
    } finally {
      // The log has more information than the client gets.
      log.requireNone();
    }
  }

  private long newGenerations() throws IOException {
    long highest = 0;
    for (int region = 0; region < REGIONS; region++) {
      highest = Math.max(highest, server.fence(region).generation());
    }
    return highest + 1;
  }

  /** An answer that must come. For a read it has the bytes that were written. */
  private record Expected(long id, ErrorCode code, Read read) {}

  /** The bytes of a read, and which of them this input has written. */
  private record Read(byte[] data, BitSet known) {}

  /** The connection for one input. */
  private final class Play {
    private final Input input;
    private final Deque<Expected> expected = new ArrayDeque<>();
    private final Map<Long, Long> generations = new HashMap<>();
    private final byte[][] contents = new byte[REGIONS][];
    private final BitSet[] known = new BitSet[REGIONS];
    private final Socket socket;
    private final DataInputStream in;
    private long id;
    private boolean greeted;
    private boolean ended;

    Play(Input input) throws IOException {
      this.input = input;
      this.socket = new Socket(server.address().getAddress(), server.address().getPort());
      this.in = new DataInputStream(socket.getInputStream());
    }

    void go() throws IOException {
      try (socket) {
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        // So that the kernel does not keep thousands of closed connections.
        socket.setSoLinger(true, 0);
        for (int i = 0; i < MOST_STEPS && !ended && input.left() > 0; i++) {
          step(input.u8());
          if (expected.size() > 4) {
            awaitAnswers();
          }
        }
        awaitAnswers();
        if (ended) {
          awaitEnd();
        }
      } catch (SocketException e) {
        // The server closes a connection while this end is still writing.
        Require.that(ended && expected.isEmpty(), () -> "the connection is gone: " + e);
      }
    }

    private void step(int what) throws IOException {
      id++;
      if (!greeted && what % 16 != 15) {
        hello(uuid);
        return;
      }
      switch (what % 16) {
        case 0, 1, 2, 3, 4 -> write();
        case 5, 6, 7, 8, 9 -> read();
        case 10, 11 -> ping();
        case 12 -> hello(input.below(2) == 0 ? uuid : new UUID(3, 4));
        case 13 -> {
          // Requests that arrive in one read.
          ping();
          read();
        }
        default -> garbage();
      }
    }

    private void hello(UUID expectedUuid) throws IOException {
      boolean right = expectedUuid.equals(uuid);
      boolean second = right && greeted;
      if (second) {
        // A connection has one login.
        end();
      }
      send(
          DataNodeOperations.HELLO.number(),
          encode(
              DataHello.Request.LAYOUT.fixedLength(),
              out -> DataHello.Request.CODEC.encode(DataHello.request(expectedUuid, 1), out, 0)));
      if (!second) {
        expected.add(new Expected(id, right ? ErrorCode.OK : ErrorCode.DATA_LOST, null));
      }
      greeted |= right;
    }

    private void ping() throws IOException {
      Ping.Request request = new Ping.Request(input.bits());
      send(
          DataNodeOperations.PING.number(),
          encode(
              Ping.Request.CODEC.length(request),
              out -> Ping.Request.CODEC.encode(request, out, 0)));
      expected.add(new Expected(id, ErrorCode.OK, null));
    }

    private void write() throws IOException {
      int region = input.below(8) == 0 ? (int) number() : input.below(REGIONS);
      int length = length();
      long offset = offset(length);
      long generation = generation();
      if (length < 1 || length > DataNodeOperations.MAX_DATA_LENGTH || length > MOST_SENT) {
        // Only the head. An invalid length ends the connection; after a valid one the data are
        // missing.
        end();
        head(region, length, offset, generation);
        return;
      }
      byte[] data = new byte[length];
      for (int i = 0; i < length; i++) {
        data[i] = (byte) (i * 31 + id + (i >> 8));
      }
      int fixed = WriteData.Request.LAYOUT.fixedLength();
      ByteBuffer body = ByteBuffer.allocate(fixed + length).order(ByteOrder.LITTLE_ENDIAN);
      WriteData.Request.CODEC.encode(
          new WriteData.Request(region, length, offset, generation), body, 0);
      send(DataNodeOperations.WRITE.number(), body.put(fixed, data).array());
      expected.add(new Expected(id, written(region, offset, generation, data), null));
    }

    private void head(int region, int length, long offset, long generation) throws IOException {
      int fixed = WriteData.Request.LAYOUT.fixedLength();
      ByteBuffer frame =
          ByteBuffer.allocate(Frame.HEADER_LENGTH + fixed).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(
          frame,
          0,
          frame.capacity() + length,
          DataNodeOperations.WRITE.number(),
          Frame.KIND_REQUEST,
          id);
      WriteData.Request.CODEC.encode(
          new WriteData.Request(region, length, offset, generation), frame, Frame.HEADER_LENGTH);
      pieces(frame.array());
    }

    private void read() throws IOException {
      int region = input.below(8) == 0 ? (int) number() : input.below(REGIONS);
      int length = length();
      long offset = offset(length);
      long generation = generation();
      if (length < 1 || length > DataNodeOperations.MAX_DATA_LENGTH) {
        end();
      }
      send(
          DataNodeOperations.READ.number(),
          encode(
              ReadData.Request.LAYOUT.fixedLength(),
              out ->
                  ReadData.Request.CODEC.encode(
                      new ReadData.Request(region, length, offset, generation), out, 0)));
      if (ended) {
        return;
      }
      ErrorCode code = readable(region, offset, length, generation);
      Read read = null;
      if (code == ErrorCode.OK) {
        int from = (int) offset;
        read =
            new Read(
                Arrays.copyOfRange(contents[region], from, from + length),
                known[region].get(from, from + length));
      }
      expected.add(new Expected(id, code, read));
      if (length > LARGE) {
        // Neither side may wait for the other to read its bytes.
        awaitAnswers();
      }
    }

    /** Invalid bytes, which are always sent last. */
    private void garbage() throws IOException {
      end();
      switch (input.below(4)) {
        case 0 -> send(input.u8(), input.rest());
        case 1 -> {
          byte[] frame = FramesTarget.frame(input.u8() % 6, Frame.KIND_REQUEST, input.rest());
          ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(0, (int) number());
          pieces(frame);
        }
        default -> pieces(input.rest());
      }
    }

    /** The next bytes may end the connection, and its unsent answers with it. */
    private void end() throws IOException {
      awaitAnswers();
      ended = true;
    }

    private long number() {
      return input.below(2) == 0 ? input.i32() : OFFSETS[input.below(OFFSETS.length)];
    }

    private int length() {
      return input.below(4) == 0 ? LENGTHS[input.below(LENGTHS.length)] : 1 + input.u16() % 9000;
    }

    private long offset(int length) {
      return switch (input.below(4)) {
        case 0 -> OFFSETS[input.below(OFFSETS.length)];
        case 1 -> REGION - (long) length + input.below(3) - 1;
        default -> (long) input.below(8) * Extent.MIN_LENGTH;
      };
    }

    /**
     * Not between this input's generation and the largest, which would spoil the space for later
     * inputs.
     */
    private long generation() {
      return switch (input.below(16)) {
        case 0 -> -1 - (input.bits() & Long.MAX_VALUE);
        case 1 -> Generation.MAX + 1 + (input.bits() & 0xffff);
        default -> base + input.below(3);
      };
    }

    // The model.

    private static boolean exists(int region, long offset, int length) {
      return region >= 0
          && region < REGIONS
          && offset >= 0
          && length <= REGION
          && offset <= REGION - length;
    }

    private ErrorCode written(int region, long offset, long generation, byte[] data) {
      if (!exists(region, offset, data.length)) {
        return ErrorCode.OUT_OF_RANGE;
      }
      if (generation > Generation.MAX) {
        return ErrorCode.INVALID_ARGUMENT;
      }
      for (long unit : units(region, offset, data.length)) {
        if (generations.getOrDefault(unit, base - 1) > generation) {
          return ErrorCode.STALE_EXTENT;
        }
      }
      units(region, offset, data.length).forEach(unit -> generations.put(unit, generation));
      if (contents[region] == null) {
        contents[region] = new byte[REGION];
        known[region] = new BitSet(REGION);
      }
      System.arraycopy(data, 0, contents[region], (int) offset, data.length);
      known[region].set((int) offset, (int) offset + data.length);
      return ErrorCode.OK;
    }

    private ErrorCode readable(int region, long offset, int length, long generation) {
      if (!exists(region, offset, length)) {
        return ErrorCode.OUT_OF_RANGE;
      }
      ErrorCode code = ErrorCode.OK;
      for (long unit : units(region, offset, length)) {
        long present = generations.getOrDefault(unit, base - 1);
        if (present > generation) {
          return ErrorCode.STALE_EXTENT;
        }
        code = present == generation ? code : ErrorCode.OUT_OF_RANGE;
      }
      return code;
    }

    private static List<Long> units(int region, long offset, int length) {
      List<Long> units = new ArrayList<>();
      for (long unit = offset / Extent.MIN_LENGTH;
          unit <= (offset + length - 1) / Extent.MIN_LENGTH;
          unit++) {
        units.add((long) region << 32 | unit);
      }
      return units;
    }

    // The socket.

    private void send(int opcode, byte[] body) throws IOException {
      ByteBuffer frame =
          ByteBuffer.allocate(Frame.HEADER_LENGTH + body.length).order(ByteOrder.LITTLE_ENDIAN);
      Frame.write(frame, 0, frame.capacity(), opcode, Frame.KIND_REQUEST, id);
      pieces(frame.put(Frame.HEADER_LENGTH, body).array());
    }

    private void pieces(byte[] bytes) throws IOException {
      int first = input.below(4) == 0 ? Math.min(bytes.length, input.below(64)) : 0;
      socket.getOutputStream().write(bytes, 0, first);
      socket.getOutputStream().write(bytes, first, bytes.length - first);
    }

    private void awaitAnswers() throws IOException {
      while (!expected.isEmpty()) {
        Expected next = expected.peek();
        ByteBuffer head = take(Frame.HEADER_LENGTH);
        Require.equal(next.id, Frame.correlationId(head, 0), "correlation id");
        Require.equal(next.code, ErrorCode.of(Frame.code(head, 0)), "answer to " + next.id);
        ByteBuffer body = take(Frame.length(head, 0) - Frame.HEADER_LENGTH);
        if (next.read != null) {
          checkData(next.id, next.read, body);
        }
        expected.remove();
      }
    }

    private void checkData(long readId, Read read, ByteBuffer body) throws IOException {
      int fixed = ReadData.Response.LAYOUT.fixedLength();
      Require.equal(fixed + read.data.length, body.capacity(), "data");
      for (int i = read.known.nextSetBit(0); i >= 0; i = read.known.nextSetBit(i + 1)) {
        if (read.data[i] != body.get(fixed + i)) {
          throw new AssertionError("byte " + i + " of read " + readId + " is another one");
        }
      }
      if (body.getInt(ReadData.Response.LAYOUT.offset("trailer")) != 0) {
        ByteBuffer trailer = take(Frame.HEADER_LENGTH);
        Require.equal(readId, Frame.correlationId(trailer, 0), "correlation id of the trailer");
        Require.equal(ErrorCode.OK, ErrorCode.of(Frame.code(trailer, 0)), "trailer");
      }
    }

    /** Only frames may come until the connection ends. */
    private void awaitEnd() throws IOException {
      socket.shutdownOutput();
      byte[] header = in.readNBytes(Frame.HEADER_LENGTH);
      while (header.length == Frame.HEADER_LENGTH) {
        ByteBuffer head = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        int length = Frame.length(head, 0);
        Require.that(length >= Frame.HEADER_LENGTH, "an answer of " + length + " bytes");
        in.readNBytes(length - Frame.HEADER_LENGTH);
        header = in.readNBytes(Frame.HEADER_LENGTH);
      }
    }

    private ByteBuffer take(int length) throws IOException {
      byte[] bytes = in.readNBytes(length);
      Require.that(
          bytes.length == length, () -> "the connection ends instead of " + expected.peek());
      return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
  }

  private interface Encoder {
    void encode(ByteBuffer out);
  }

  private static byte[] encode(int length, Encoder encoder) {
    ByteBuffer out = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    encoder.encode(out);
    return out.array();
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    // A handshake, then one step of each kind with different choices.
    for (int choice = 0; choice < 4; choice++) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(0);
      out.write(1);
      for (int what = 0; what < 16; what++) {
        out.write(what);
        for (int i = 0; i < 12; i++) {
          out.write(1 + choice * 3 + i % 2);
        }
      }
      seeds.add(out.toByteArray());
    }
    return seeds;
  }

  @Override
  public void close() throws IOException {
    server.close();
    log.close();
  }
}
