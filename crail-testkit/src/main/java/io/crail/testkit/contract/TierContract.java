/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.TextLimits;
import io.crail.protocol.part.TierTraits;
import io.crail.rpc.ClientLoop;
import io.crail.storage.DatanodeDescription;
import io.crail.storage.Fencer;
import io.crail.storage.StorageClient;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.StorageServer;
import io.crail.storage.Transfer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every storage tier does, written once. A subclass says how a datanode is started and
 * reached. All bytes are compared, those around a transfer included.
 */
public abstract class TierContract {
  /** Bytes of a block: the longest extent that is used. */
  protected static final int BLOCK = 1 << 20;

  /** Bytes of a region. */
  protected static final int REGION = 8 * BLOCK;

  /** The regions that the datanode has to lend. */
  protected static final int REGIONS = 2;

  /** How long a transfer may take that is expected to succeed. */
  protected static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final String NO_GENERATIONS = "this tier knows no generations";
  private static final byte GUARD = (byte) 0xA5;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final Map<StorageServer, UUID> identities = new LinkedHashMap<>();
  private long seed;

  /** The source of random choices; its seed is printed. */
  protected Random random;

  /** The loop of the client. */
  protected ClientLoop loop;

  private StorageClient client;
  private StorageServer server;
  private long lastGeneration = 1000;

  /** Creates a server with {@link #REGIONS} regions of {@link #REGION} bytes, not started. */
  protected abstract StorageServer newServer() throws Exception;

  /**
   * Creates another server on the address of one that was closed, not started.
   *
   * @param address the address that the other had
   */
  protected abstract StorageServer newServerAt(InetSocketAddress address) throws Exception;

  /** Creates the loop of a client. */
  protected abstract ClientLoop newLoop() throws Exception;

  /** Creates the client part of the tier. */
  protected abstract StorageClient newClient(ClientLoop clientLoop) throws Exception;

  /** Connects to a datanode; the mapped access has another way than a tier's client. */
  protected StorageEndpoint connect(StorageClient by, DatanodeDescription datanode)
      throws Exception {
    return by.connect(datanode);
  }

  /** False when everything runs in one thread, as in a simulation. */
  protected boolean isThreaded() {
    return true;
  }

  /**
   * False for a tier whose memory is reached without its server, so that nobody there could compare
   * generations; namenodes let its space rest in place of that.
   */
  private boolean checksGeneration() {
    return server.traits().checksGeneration();
  }

  /** Most bytes that a transfer may allocate on both sides together; negative: any number. */
  protected int bytesOfTransfer() {
    return 0;
  }

  /** Closes what the subclass has opened; the servers, endpoints and loops are closed before. */
  protected void closeAll() throws Exception {}

  /** How long after its end a datanode may go unnoticed. */
  protected long noticeNanos() {
    return TimeUnit.SECONDS.toNanos(30);
  }

  @BeforeEach
  final void start() throws Exception {
    String given = System.getProperty("crail.seed");
    seed = given == null ? System.nanoTime() : Long.parseLong(given);
    System.out.println(getClass().getSimpleName() + ": -Dcrail.seed=" + seed);
    random = new Random(seed);
    server = newServer();
    start(server);
    loop = newLoop();
    client = newClient(loop);
  }

  @AfterEach
  final void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
    client.close();
    loop.close();
    server.close();
    closeAll();
  }

  /** The running server. */
  protected final StorageServer server() {
    return server;
  }

  /** An endpoint of the running server, closed at the end of the test. */
  protected final StorageEndpoint endpoint() throws Exception {
    return endpoint(describe(server));
  }

  /** An endpoint of a datanode, closed at the end of the test. */
  protected final StorageEndpoint endpoint(DatanodeDescription datanode) throws Exception {
    StorageEndpoint endpoint = connect(client, datanode);
    open.add(endpoint);
    return endpoint;
  }

  /** What a client is told of a server; its identity is the one that it was started with. */
  protected final DatanodeDescription describe(StorageServer of) {
    return DatanodeDescription.of(identities.get(of), "test", of.address(), 0, of);
  }

  /** An extent in the name of a generation that is larger than all before. */
  protected final Extent extent(int region, long offset, int length) {
    return new Extent(0, ++lastGeneration, offset, length, 1, region);
  }

  /** The same place in the name of a later generation. */
  protected final Extent laterExtent(Extent old) {
    return extent(old.region(), old.regionOffset(), old.length());
  }

  /** A direct buffer of random bytes. */
  protected final ByteBuffer randomBuffer(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return ByteBuffer.allocateDirect(length).put(0, bytes);
  }

  /** Starts a transfer. */
  protected final Transfer begin(
      StorageEndpoint endpoint,
      boolean write,
      ByteBuffer buffer,
      int bufferOffset,
      int length,
      Extent extent,
      int extentOffset,
      long timeoutNanos) {
    Transfer transfer = new Transfer();
    transfer.prepare(
        buffer, bufferOffset, length, extent, extentOffset, loop.clock().nanoTime() + timeoutNanos);
    if (write) {
      endpoint.write(transfer);
    } else {
      endpoint.read(transfer);
    }
    return transfer;
  }

  /** Waits for a transfer. */
  protected final Transfer await(Transfer transfer) throws InterruptedException {
    assertTrue(
        loop.await(transfer, loop.clock().nanoTime() + 2 * PATIENCE_NANOS),
        "the transfer never ended");
    return transfer;
  }

  /** Writes, and expects success. */
  protected final void write(
      StorageEndpoint endpoint, ByteBuffer buffer, Extent extent, int extentOffset)
      throws Exception {
    succeed(
        begin(endpoint, true, buffer, 0, buffer.capacity(), extent, extentOffset, PATIENCE_NANOS));
  }

  /** Reads, and expects success. */
  protected final ByteBuffer read(
      StorageEndpoint endpoint, int length, Extent extent, int extentOffset) throws Exception {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    succeed(begin(endpoint, false, buffer, 0, length, extent, extentOffset, PATIENCE_NANOS));
    return buffer;
  }

  /** Waits for a transfer, and expects success. */
  protected final void succeed(Transfer transfer) throws Exception {
    CrailException failure = await(transfer).failure();
    if (failure != null) {
      throw failure.rethrown();
    }
  }

  /** Waits for a transfer, and expects one of these errors. */
  protected final ErrorCode fail(Transfer transfer, ErrorCode... expected)
      throws InterruptedException {
    CrailException failure = await(transfer).failure();
    assertNotNull(failure, "success in place of " + List.of(expected));
    assertTrue(List.of(expected).contains(failure.code()), failure::toString);
    return failure.code();
  }

  @Test
  void movesEveryLengthAtRandomOffsets() throws Exception {
    StorageEndpoint endpoint = endpoint();
    int[] lengths = {1, 2, 3, 4095, 4096, 4097, 8191, 65_535, 65_536, 65_537, 300_000, BLOCK};
    for (int round = 0; round < 60; round++) {
      int length = round < lengths.length ? lengths[round] : 1 + random.nextInt(BLOCK);
      Extent extent =
          extent(random.nextInt(REGIONS), (long) random.nextInt(REGION / BLOCK) * BLOCK, BLOCK);
      moveOnce(endpoint, extent, length);
    }
  }

  private void moveOnce(StorageEndpoint endpoint, Extent extent, int length) throws Exception {
    int extentOffset = random.nextInt(BLOCK - length + 1);
    int sourceOffset = random.nextInt(100);
    ByteBuffer source = randomBuffer(sourceOffset + length + random.nextInt(100));
    source.position(random.nextInt(source.capacity())).limit(source.position());
    int position = source.position();
    succeed(
        begin(endpoint, true, source, sourceOffset, length, extent, extentOffset, PATIENCE_NANOS));
    assertEquals(position, source.position());
    assertEquals(position, source.limit());

    int targetOffset = random.nextInt(100);
    int capacity = targetOffset + length + random.nextInt(100);
    ByteBuffer target = ByteBuffer.allocateDirect(capacity);
    for (int i = 0; i < capacity; i++) {
      target.put(i, GUARD);
    }
    target.position(random.nextInt(capacity)).limit(target.position());
    position = target.position();
    succeed(
        begin(endpoint, false, target, targetOffset, length, extent, extentOffset, PATIENCE_NANOS));
    assertEquals(position, target.position());
    assertEquals(position, target.limit());
    target.clear();
    source.clear();
    assertEquals(
        -1, source.slice(sourceOffset, length).mismatch(target.slice(targetOffset, length)));
    for (int i = 0; i < capacity; i++) {
      if (i < targetOffset || i >= targetOffset + length) {
        assertEquals(GUARD, target.get(i), "a byte outside the transfer was changed");
      }
    }
  }

  /** A stream that copies arrays within this host may have to use the network after all. */
  @Test
  void memoryOfTheHeapIsMovedToo() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(1, 0, BLOCK);
    byte[] bytes = new byte[100_000];
    random.nextBytes(bytes);
    ByteBuffer source = ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    succeed(begin(endpoint, true, source, 100, 99_000, extent, 7, PATIENCE_NANOS));
    byte[] got = new byte[bytes.length];
    succeed(begin(endpoint, false, ByteBuffer.wrap(got), 100, 99_000, extent, 7, PATIENCE_NANOS));
    byte[] expected = new byte[bytes.length];
    System.arraycopy(bytes, 100, expected, 100, 99_000);
    assertArrayEquals(expected, got);
    endpoint.close();
    fail(begin(endpoint, true, source, 0, 10, extent, 0, PATIENCE_NANOS), ErrorCode.CLOSED);
  }

  @Test
  void aWriteChangesNothingAroundIt() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer before = randomBuffer(BLOCK);
    write(endpoint, before, extent, 0);
    ByteBuffer patch = randomBuffer(70_000);
    write(endpoint, patch, extent, 12_345);
    before.put(12_345, patch, 0, 70_000);
    assertEquals(-1, before.mismatch(read(endpoint, BLOCK, extent, 0)));
  }

  @Test
  void manyTransfersMayBeOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent[] extents = new Extent[REGIONS * REGION / BLOCK];
    ByteBuffer[] sources = new ByteBuffer[extents.length];
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < extents.length; i++) {
      extents[i] = extent(i % REGIONS, (long) (i / REGIONS) * BLOCK, BLOCK);
      sources[i] = randomBuffer(BLOCK);
      // In pieces, so that there are far more than a connection has slots.
      for (int at = 0; at < BLOCK; at += BLOCK / 16) {
        transfers.add(
            begin(endpoint, true, sources[i], at, BLOCK / 16, extents[i], at, PATIENCE_NANOS));
      }
    }
    for (Transfer transfer : transfers) {
      succeed(transfer);
    }
    transfers.clear();
    ByteBuffer[] targets = new ByteBuffer[extents.length];
    for (int i = 0; i < extents.length; i++) {
      targets[i] = ByteBuffer.allocateDirect(BLOCK);
      int piece = i % 2 == 0 ? BLOCK / 8 : BLOCK / 64;
      for (int at = 0; at < BLOCK; at += piece) {
        transfers.add(
            begin(endpoint, false, targets[i], at, piece, extents[i], at, PATIENCE_NANOS));
      }
    }
    for (Transfer transfer : transfers) {
      succeed(transfer);
    }
    for (int i = 0; i < extents.length; i++) {
      assertEquals(-1, sources[i].mismatch(targets[i]), "extent " + i);
    }
  }

  @Test
  void aTransferMayBeUsedAgain() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(1, BLOCK, BLOCK);
    ByteBuffer memory = randomBuffer(BLOCK);
    Transfer transfer = new Transfer();
    for (int i = 0; i < 100; i++) {
      int length = 1 + random.nextInt(100_000);
      int at = random.nextInt(BLOCK - length);
      transfer.prepare(memory, at, length, extent, at, loop.clock().nanoTime() + PATIENCE_NANOS);
      endpoint.write(transfer);
      succeed(transfer);
      ByteBuffer target = ByteBuffer.allocateDirect(length);
      transfer.prepare(target, 0, length, extent, at, loop.clock().nanoTime() + PATIENCE_NANOS);
      endpoint.read(transfer);
      succeed(transfer);
      assertEquals(-1, target.mismatch(memory.slice(at, length)));
    }
  }

  @Test
  void threadsShareAnEndpoint() throws Exception {
    assumeTrue(isThreaded(), "this tier lives in one thread");
    StorageEndpoint endpoint = endpoint();
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        Extent extent = extent(i % REGIONS, (long) i * BLOCK, BLOCK);
        ByteBuffer source = randomBuffer(BLOCK);
        Random own = new Random(seed + i);
        results.add(executor.submit(moving(endpoint, extent, source, own)));
      }
      for (Future<?> result : results) {
        result.get(120, TimeUnit.SECONDS);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private Callable<Void> moving(
      StorageEndpoint endpoint, Extent extent, ByteBuffer source, Random own) {
    return () -> {
      for (int i = 0; i < 30; i++) {
        int length = 1 + own.nextInt(i % 2 == 0 ? BLOCK : 2000);
        int at = own.nextInt(BLOCK - length + 1);
        succeed(begin(endpoint, true, source, at, length, extent, at, PATIENCE_NANOS));
        assertEquals(-1, read(endpoint, length, extent, at).mismatch(source.slice(at, length)));
      }
      return null;
    };
  }

  @Test
  void otherEndpointsSeeWhatWasWritten() throws Exception {
    StorageEndpoint writer = endpoint();
    StorageEndpoint reader = endpoint();
    Extent extent = extent(0, 3 * BLOCK, BLOCK);
    for (int i = 0; i < 50; i++) {
      ByteBuffer bytes = randomBuffer(1 + random.nextInt(200_000));
      write(writer, bytes, extent, 0);
      assertEquals(-1, bytes.mismatch(read(reader, bytes.capacity(), extent, 0)));
    }
  }

  @Test
  void bytesThatWereNeverWrittenAreNotRead() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    StorageEndpoint endpoint = endpoint();
    ByteBuffer buffer = ByteBuffer.allocateDirect(BLOCK);
    for (int length : new int[] {1, 4096, 70_000, BLOCK}) {
      Extent extent = extent(0, 5 * BLOCK, BLOCK);
      fail(
          begin(endpoint, false, buffer, 0, length, extent, 0, PATIENCE_NANOS),
          ErrorCode.OUT_OF_RANGE);
    }
    Extent half = extent(0, 5 * BLOCK, BLOCK);
    write(endpoint, randomBuffer(BLOCK / 2), half, 0);
    fail(
        begin(endpoint, false, buffer, 0, BLOCK / 2 + 1, half, 0, PATIENCE_NANOS),
        ErrorCode.OUT_OF_RANGE);
    read(endpoint, BLOCK / 2, half, 0);
  }

  @Test
  void staleGenerationsAreRefused() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    StorageEndpoint endpoint = endpoint();
    for (int length : new int[] {1, 5000, 70_000, BLOCK}) {
      Extent old = extent(1, 2 * BLOCK, BLOCK);
      write(endpoint, randomBuffer(length), old, 0);
      Extent young = laterExtent(old);
      ByteBuffer bytes = randomBuffer(length);
      // The last byte alone makes the whole of the old access stale.
      write(endpoint, bytes.slice(length - 1, 1), young, length - 1);
      fail(
          begin(endpoint, false, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS),
          ErrorCode.STALE_EXTENT);
      fail(
          begin(endpoint, true, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS),
          ErrorCode.STALE_EXTENT);
      ByteBuffer seen = read(endpoint, 1, young, length - 1);
      assertEquals(bytes.get(length - 1), seen.get(0), "a stale write has changed a byte");
      // The connection serves on after a refusal.
      write(endpoint, bytes, young, 0);
      assertEquals(-1, bytes.mismatch(read(endpoint, length, young, 0)));
    }
  }

  @Test
  void refusalsDoNotDisturbTheirNeighbours() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent old = checksGeneration() ? extent(0, 0, BLOCK) : extent(0, REGION, BLOCK);
    ErrorCode refusal = checksGeneration() ? ErrorCode.STALE_EXTENT : ErrorCode.OUT_OF_RANGE;
    Extent young = extent(0, 0, BLOCK);
    Extent other = extent(1, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, young, 0);
    write(endpoint, bytes, other, 0);
    List<Transfer> good = new ArrayList<>();
    List<Transfer> bad = new ArrayList<>();
    List<ByteBuffer> targets = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int length = 1 + random.nextInt(i % 3 == 0 ? BLOCK : 20_000);
      bad.add(begin(endpoint, i % 2 == 0, randomBuffer(length), 0, length, old, 0, PATIENCE_NANOS));
      ByteBuffer target = ByteBuffer.allocateDirect(length);
      targets.add(target);
      good.add(begin(endpoint, false, target, 0, length, other, 0, PATIENCE_NANOS));
      good.add(begin(endpoint, true, bytes, 0, length, other, 0, PATIENCE_NANOS));
    }
    for (Transfer transfer : good) {
      succeed(transfer);
    }
    for (Transfer transfer : bad) {
      fail(transfer, refusal);
    }
    for (ByteBuffer target : targets) {
      assertEquals(-1, target.mismatch(bytes.slice(0, target.capacity())));
    }
    assertEquals(-1, bytes.mismatch(read(endpoint, BLOCK, young, 0)));
  }

  @Test
  void placesOutsideTheRegionsAreRefused() throws Exception {
    StorageEndpoint endpoint = endpoint();
    ByteBuffer buffer = randomBuffer(BLOCK);
    List<Extent> outside =
        List.of(
            extent(0, REGION - 4096, BLOCK),
            extent(0, REGION, BLOCK),
            extent(0, -4096, BLOCK),
            extent(0, Long.MAX_VALUE - 4095, BLOCK),
            extent(0, Long.MIN_VALUE, BLOCK),
            extent(0, 1L << 32, BLOCK),
            extent(-1, 0, BLOCK),
            extent(Integer.MAX_VALUE, 0, BLOCK),
            extent(REGIONS, 0, BLOCK));
    for (Extent extent : outside) {
      for (int length : new int[] {4097, BLOCK}) {
        for (boolean write : new boolean[] {true, false}) {
          fail(
              begin(endpoint, write, buffer, 0, length, extent, 0, PATIENCE_NANOS),
              ErrorCode.OUT_OF_RANGE,
              ErrorCode.UNAVAILABLE);
        }
      }
    }
    Extent inside = extent(REGIONS - 1, REGION - BLOCK, BLOCK);
    write(endpoint, buffer, inside, 0);
    assertEquals(-1, buffer.mismatch(read(endpoint, BLOCK, inside, 0)));
  }

  @Test
  void aReaderNeverTakesBytesOfAnotherGeneration() throws Exception {
    assumeTrue(checksGeneration(), NO_GENERATIONS);
    assumeTrue(isThreaded(), "this tier lives in one thread");
    StorageEndpoint writing = endpoint();
    StorageEndpoint reading = endpoint();
    int length = 200_000;
    Extent[] current = {extent(0, 6 * BLOCK, BLOCK)};
    ByteBuffer bytes = filled(length, current[0].generation());
    write(writing, bytes, current[0], 0);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Extent[] shared = current;
      Future<?> writer =
          executor.submit(
              () -> {
                for (int i = 0; i < 300; i++) {
                  Extent following;
                  synchronized (shared) {
                    following = laterExtent(shared[0]);
                  }
                  write(writing, filled(length, following.generation()), following, 0);
                  synchronized (shared) {
                    shared[0] = following;
                  }
                }
                return null;
              });
      int matched = 0;
      while (!writer.isDone() || matched == 0) {
        Extent extent;
        synchronized (shared) {
          extent = shared[0];
        }
        ByteBuffer target = ByteBuffer.allocateDirect(length);
        Transfer transfer =
            await(begin(reading, false, target, 0, length, extent, 0, PATIENCE_NANOS));
        if (transfer.failure() == null) {
          matched++;
          assertEquals(-1, target.mismatch(filled(length, extent.generation())));
        } else {
          assertEquals(ErrorCode.STALE_EXTENT, transfer.failure().code());
        }
      }
      writer.get(120, TimeUnit.SECONDS);
    } finally {
      executor.shutdownNow();
    }
  }

  private static ByteBuffer filled(int length, long generation) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(length);
    for (int at = 0; at + 8 <= length; at += 8) {
      buffer.putLong(at, generation);
    }
    return buffer;
  }

  @Test
  void closingAnEndpointEndsWhatIsOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer buffer = randomBuffer(BLOCK);
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      transfers.add(begin(endpoint, i % 2 == 0, buffer, 0, BLOCK, extent, 0, PATIENCE_NANOS));
    }
    endpoint.close();
    for (Transfer transfer : transfers) {
      CrailException failure = await(transfer).failure();
      assertTrue(failure == null || failure.code() == ErrorCode.CLOSED, String.valueOf(failure));
    }
    fail(begin(endpoint, false, buffer, 0, 10, extent, 0, PATIENCE_NANOS), ErrorCode.CLOSED);
    endpoint.close();
    StorageEndpoint other = endpoint();
    write(other, buffer, extent, 0);
  }

  @Test
  void aDatanodeThatEndsFailsWhatIsOutstanding() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer buffer = randomBuffer(BLOCK);
    write(endpoint, buffer, extent, 0);
    long timeoutNanos = 3 * PATIENCE_NANOS / 2;
    List<Transfer> transfers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      transfers.add(begin(endpoint, i % 2 == 0, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    }
    long startNanos = loop.clock().nanoTime();
    server.close();
    for (Transfer transfer : transfers) {
      CrailException failure = await(transfer).failure();
      assertTrue(
          failure == null
              || failure.code() == ErrorCode.UNAVAILABLE
              || failure.code() == ErrorCode.TIMED_OUT,
          String.valueOf(failure));
    }
    long patience = noticeNanos();
    Transfer last = await(begin(endpoint, false, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    while (last.failure() == null && loop.clock().nanoTime() - startNanos < patience) {
      last = await(begin(endpoint, false, buffer, 0, BLOCK, extent, 0, timeoutNanos));
    }
    fail(last, ErrorCode.UNAVAILABLE, ErrorCode.TIMED_OUT);
    if (isThreaded()) {
      // Said by the datanode or by its host, and not found out at a deadline.
      assertTrue(loop.clock().nanoTime() - startNanos < PATIENCE_NANOS, "noticed too late");
    }
  }

  @Test
  void aRestartedDatanodeIsNotTakenForTheOldOne() throws Exception {
    DatanodeDescription old = describe(server);
    StorageEndpoint endpoint = endpoint(old);
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, extent, 0);
    server.close();
    StorageServer restarted = newServerAt(old.address());
    start(restarted);
    server = restarted;
    fail(
        begin(endpoint, false, bytes, 0, BLOCK, extent, 0, PATIENCE_NANOS),
        ErrorCode.DATA_LOST,
        ErrorCode.UNAVAILABLE);
    StorageEndpoint fresh = endpoint(describe(restarted));
    if (checksGeneration()) {
      fail(begin(fresh, false, bytes, 0, BLOCK, extent, 0, PATIENCE_NANOS), ErrorCode.OUT_OF_RANGE);
    } else {
      assertEquals(-1, ByteBuffer.allocate(BLOCK).mismatch(read(fresh, BLOCK, extent, 0)));
    }
    write(fresh, bytes, extent, 0);
    assertEquals(-1, bytes.mismatch(read(fresh, BLOCK, extent, 0)));
  }

  @Test
  void aPassedDeadlineEndsATransfer() throws Exception {
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(endpoint, bytes, extent, 0);
    for (int i = 0; i < 20; i++) {
      Transfer transfer =
          await(begin(endpoint, i % 2 == 0, randomBuffer(BLOCK), 0, BLOCK, extent, 0, 0));
      if (transfer.failure() != null) {
        assertEquals(ErrorCode.TIMED_OUT, transfer.failure().code());
      }
    }
    // Whatever became of them, the endpoint goes on.
    write(endpoint, bytes, extent, 0);
    assertEquals(-1, bytes.mismatch(read(endpoint, BLOCK, extent, 0)));
  }

  @Test
  void transfersAllocateNothing() throws Exception {
    assumeTrue(bytesOfTransfer() >= 0, "a simulation may allocate");
    StorageEndpoint endpoint = endpoint();
    Extent extent = extent(0, 0, BLOCK);
    write(endpoint, randomBuffer(BLOCK), extent, 0);
    Transfer[] transfers = new Transfer[16];
    ByteBuffer[] buffers = new ByteBuffer[transfers.length];
    for (int i = 0; i < transfers.length; i++) {
      transfers[i] = new Transfer();
      buffers[i] = randomBuffer(BLOCK / transfers.length);
    }
    for (boolean write : new boolean[] {true, false}) {
      for (int length : new int[] {4, 4096, 4 * 4096}) {
        for (int inFlight : new int[] {1, transfers.length}) {
          int repeated = Math.min(400, 2 * BLOCK / length) / inFlight;
          AllocationCount.assertAtMost(
              (write ? "a write of " : "a read of ") + length + " bytes, of " + inFlight,
              repeated * inFlight,
              bytesOfTransfer(),
              () -> {
                for (int i = 0; i < repeated; i++) {
                  moveAll(endpoint, write, transfers, inFlight, buffers, length, extent);
                }
              });
        }
      }
    }
  }

  private void moveAll(
      StorageEndpoint endpoint,
      boolean write,
      Transfer[] transfers,
      int count,
      ByteBuffer[] buffers,
      int length,
      Extent extent)
      throws InterruptedException {
    long deadline = loop.clock().nanoTime() + PATIENCE_NANOS;
    for (int i = 0; i < count; i++) {
      transfers[i].prepare(buffers[i], 0, length, extent, i * length, deadline);
      if (write) {
        endpoint.write(transfers[i]);
      } else {
        endpoint.read(transfers[i]);
      }
    }
    for (int i = 0; i < count; i++) {
      if (!loop.await(transfers[i], deadline) || transfers[i].failure() != null) {
        throw new AssertionError(transfers[i].failure());
      }
    }
  }

  @Test
  void aFenceShutsOutWhoKnowsTheRegionAsItWas() throws Exception {
    StorageEndpoint old = endpoint();
    Extent fenced = extent(0, 0, BLOCK);
    Extent other = extent(1, 0, BLOCK);
    ByteBuffer bytes = randomBuffer(BLOCK);
    write(old, bytes, fenced, 0);
    write(old, bytes, other, 0);
    for (int round = 0; round < 2; round++) {
      List<Transfer> underWay = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        underWay.add(begin(old, i % 2 == 0, bytes.duplicate(), 0, BLOCK, other, 0, PATIENCE_NANOS));
      }
      server.beforeFences(List.of(0));
      Fencer.Fence fence = server.fence(0);
      assertEquals(server.regions().get(0), fence.region());
      lastGeneration = Math.max(lastGeneration, fence.generation());
      StorageEndpoint fresh = endpoint(describe(server));
      Extent young = extent(0, 0, BLOCK);
      ByteBuffer others = randomBuffer(BLOCK);
      write(fresh, others, young, 0);
      for (boolean write : new boolean[] {true, false}) {
        fail(
            begin(old, write, randomBuffer(BLOCK), 0, BLOCK, fenced, 0, PATIENCE_NANOS),
            ErrorCode.STALE_EXTENT,
            ErrorCode.UNAVAILABLE);
      }
      assertEquals(-1, others.mismatch(read(fresh, BLOCK, young, 0)));
      // Nobody else notices.
      for (Transfer each : underWay) {
        succeed(each);
      }
      assertEquals(-1, bytes.mismatch(read(old, BLOCK, other, 0)));
    }
  }

  @Test
  void theServerTellsWhatItLends() throws IOException {
    assertEquals(REGIONS, server.regions().size());
    for (int i = 0; i < REGIONS; i++) {
      assertEquals(i, server.regions().get(i).index());
      assertEquals(REGION, server.regions().get(i).length());
    }
    TierTraits traits = server.traits();
    assertEquals(1, Integer.bitCount(traits.granularity()), "a power of two");
    assertTrue(traits.granularity() <= Extent.MIN_LENGTH);
    assertTrue(traits.directory().length() <= TextLimits.REGION_PATH);
    assertTrue(traits.details().length() <= TierTraits.MAX_DETAILS_LENGTH);
    long fence = server.fence(0).generation();
    assertTrue(fence >= 1);
    assertTrue(server.fence(0).generation() > fence, "a later fence must be above an earlier one");
    assertTrue(server.address().getPort() > 0);
  }

  private void start(StorageServer newServer) throws IOException {
    UUID uuid = UUID.randomUUID();
    newServer.start(uuid);
    identities.put(newServer, uuid);
  }
}
