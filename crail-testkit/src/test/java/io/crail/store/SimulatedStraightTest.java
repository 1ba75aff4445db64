/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.UnavailableException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Large direct buffers, which travel past the slices of a buffered stream, when they take too long,
 * fail or are interrupted, in virtual time.
 */
@Tag("once")
@Timeout(300)
class SimulatedStraightTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration FAST = Duration.ofNanos(10_000);

  /** Of each half of a transfer; so one takes longer than it may. */
  private static final Duration TOO_SLOW = Duration.ofSeconds(2);

  private static final Duration SLOW = Duration.ofSeconds(1);
  private static final int SLICE = 64 << 10;
  private static final int LENGTH = 12 * SLICE + 345;

  private final long seed = Bytes.seed("simulated straight");
  private final byte[] bytes = Bytes.random(new Random(seed), LENGTH);
  private SimulatedCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.rpctimeout=30s",
            "crail.datatimeout=3s",
            "crail.slicesize=" + SLICE,
            "crail.buffersize=" + 4 * SLICE,
            "crail.cachelimit=" + 4 * SLICE);
    cluster.tier().latency(FAST, FAST);
    store = cluster.newStore("client");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** Opens a stream on a file of {@link #bytes} that knows its way, and has read nothing ahead. */
  private CrailBufferedInputStream input() throws Exception {
    CrailBufferedInputStream input = Bytes.write(store, "/f", bytes).getBufferedInputStream(LENGTH);
    input.read();
    input.seek(LENGTH);
    input.seek(0);
    cluster.network().runFor(SLOW);
    return input;
  }

  private void interruptIn(Duration delay) {
    Thread self = Thread.currentThread();
    cluster.network().schedule(delay, self::interrupt);
  }

  private static void assertInterrupted() {
    assertTrue(Thread.interrupted(), "the interrupt got lost");
  }

  /** All slices are back. */
  private void assertNothingLeft() throws Exception {
    store.freeBuffer(store.allocateBuffer());
  }

  /** The call of a read has ended, well or not; reads the rest, and finds nothing else there. */
  private void assertGoesOn(CrailBufferedInputStream input, ByteBuffer target, int begin)
      throws Exception {
    int end = begin + target.position();
    assertEquals(end, input.position());
    assertEquals(ByteBuffer.wrap(bytes, begin, end - begin), target.duplicate().flip());
    byte[] left = new byte[target.capacity()];
    target.get(0, left);
    cluster.tier().latency(FAST, FAST);
    cluster.network().runFor(TOO_SLOW.multipliedBy(5));
    byte[] later = new byte[target.capacity()];
    target.get(0, later);
    assertArrayEquals(left, later, "written to after the end");
    ByteBuffer rest = ByteBuffer.allocateDirect(LENGTH);
    assertEquals(end == LENGTH ? -1 : LENGTH - end, input.read(rest));
    assertEquals(ByteBuffer.wrap(bytes, end, LENGTH - end), rest.flip());
    input.close();
    assertNothingLeft();
  }

  @Test
  void aReadThatTakesTooLongIsTriedAgain() throws Exception {
    CrailBufferedInputStream input = input();
    cluster.tier().latency(TOO_SLOW, TOO_SLOW);
    ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
    long start = cluster.nanoTime();
    assertThrows(CrailTimeoutException.class, () -> input.read(target));
    assertTrue(cluster.nanoTime() - start < TOO_SLOW.multipliedBy(2).toNanos());
    assertEquals(0, target.position());
    assertGoesOn(input, target, 0);
  }

  @Test
  void bytesReadAheadOfAFailureAreKept() throws Exception {
    CrailBufferedInputStream input = Bytes.write(store, "/f", bytes).getBufferedInputStream(LENGTH);
    assertEquals(bytes[0] & 0xff, input.read());
    cluster.network().runFor(Duration.ofSeconds(1));
    cluster.tier().latency(TOO_SLOW, TOO_SLOW);
    ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
    assertThrows(CrailTimeoutException.class, () -> input.read(target));
    assertEquals(4 * SLICE - 1, target.position());
    assertGoesOn(input, target, 1);
  }

  @Test
  void anInterruptedReadWaitsForItsMemory() throws Exception {
    CrailBufferedInputStream input = input();
    cluster.tier().latency(SLOW, SLOW);
    interruptIn(SLOW.dividedBy(2));
    ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
    long start = cluster.nanoTime();
    int read = input.read(target);
    assertInterrupted();
    assertTrue(cluster.nanoTime() - start >= SLOW.multipliedBy(2).toNanos());
    assertEquals(LENGTH, read);
    assertGoesOn(input, target, 0);
  }

  @Test
  void aReadThatIsInterruptedBeforeItsSlicesWaitsForItsMemory() throws Exception {
    CrailBufferedInputStream input = Bytes.write(store, "/f", bytes).getBufferedInputStream(LENGTH);
    cluster.tier().latency(SLOW, SLOW);
    // Asks for the slices, and waits for none.
    assertEquals(0, input.available());
    cluster.network().runFor(SLOW);
    interruptIn(SLOW.dividedBy(2));
    ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
    long start = cluster.nanoTime();
    assertThrows(InterruptedIOException.class, () -> input.read(target));
    assertInterrupted();
    assertTrue(cluster.nanoTime() - start >= SLOW.multipliedBy(2).toNanos());
    assertGoesOn(input, target, 0);
  }

  /** Opens a stream on a new file that has written a slice, so that it knows its way. */
  private CrailBufferedOutputStream output(CrailFile file) throws Exception {
    CrailBufferedOutputStream output = file.getBufferedOutputStream(LENGTH);
    output.write(bytes, 0, SLICE);
    output.sync().get();
    return output;
  }

  /** A direct buffer of {@link #bytes}, after what was written. */
  private ByteBuffer source(int written) {
    return ByteBuffer.allocateDirect(LENGTH).put(bytes).position(written);
  }

  private void assertWritten(CrailBufferedOutputStream output) throws Exception {
    output.close();
    assertNothingLeft();
    assertArrayEquals(bytes, Bytes.read(store.lookup("/f").get().asFile()));
  }

  @Test
  void anInterruptedWriteWaitsForItsMemory() throws Exception {
    CrailBufferedOutputStream output = output(Bytes.createFile(store, "/f"));
    cluster.tier().latency(SLOW, SLOW);
    interruptIn(SLOW.dividedBy(2));
    ByteBuffer source = source(SLICE);
    long start = cluster.nanoTime();
    output.write(source);
    assertInterrupted();
    assertTrue(cluster.nanoTime() - start >= SLOW.multipliedBy(2).toNanos());
    assertFalse(source.hasRemaining());
    cluster.tier().latency(FAST, FAST);
    assertWritten(output);
  }

  @Test
  void aWriteThatIsInterruptedBeforeItsEndWaitsForItsMemory() throws Exception {
    CrailBufferedOutputStream output = output(Bytes.createFile(store, "/f"));
    cluster.tier().latency(SLOW, SLOW);
    int written = SLICE;
    // All slices are on their way, so the end of the next write waits for one.
    for (; written < 5 * SLICE; written += SLICE / 2) {
      output.write(bytes, written, SLICE / 2);
    }
    cluster.network().runFor(SLOW);
    interruptIn(SLOW.dividedBy(2));
    ByteBuffer source = source(written);
    long start = cluster.nanoTime();
    assertThrows(InterruptedIOException.class, () -> output.write(source));
    assertInterrupted();
    assertTrue(cluster.nanoTime() - start >= SLOW.multipliedBy(2).toNanos());
    // The end was not taken.
    assertEquals(LENGTH % SLICE, source.remaining());
    cluster.tier().latency(FAST, FAST);
    output.write(source);
    assertWritten(output);
  }

  @Test
  void aWriteThatTakesTooLongEndsTheStreamAndItsLease() throws Exception {
    CrailFile file = Bytes.createFile(store, "/f");
    CrailBufferedOutputStream output = output(file);
    cluster.tier().latency(TOO_SLOW, TOO_SLOW);
    assertThrows(CrailTimeoutException.class, () -> output.write(source(SLICE)));
    assertEnded(output, CrailTimeoutException.class);
  }

  @Test
  void aWriteThatFailsEndsTheStreamAndItsLease() throws Exception {
    CrailFile file = Bytes.createFile(store, "/f");
    CrailBufferedOutputStream output = output(file);
    // One piece of several fails, and arrives later all the same.
    cluster
        .tier()
        .failWrites(
            piece ->
                piece.extent().fileOffset() + piece.extentOffset() == SLICE
                    ? ErrorCode.UNAVAILABLE
                    : ErrorCode.OK,
            LEASE.multipliedBy(2));
    assertThrows(UnavailableException.class, () -> output.write(source(SLICE)));
    assertEnded(output, UnavailableException.class);
  }

  /** The stream has failed; what it had committed is there, and another may append to it. */
  private void assertEnded(CrailBufferedOutputStream output, Class<? extends Exception> cause)
      throws Exception {
    assertThrows(cause, () -> output.write(source(0)));
    assertThrows(cause, output::close);
    assertNothingLeft();
    cluster.tier().latency(FAST, FAST);
    cluster.tier().failWrites(piece -> ErrorCode.OK, Duration.ZERO);
    CrailFile file = cluster.newStore("other").lookup("/f").get().asFile();
    assertEquals(SLICE, file.getCapacity());
    cluster.network().runFor(LEASE.multipliedBy(3).dividedBy(2));
    CrailOutputStream next = SimulatedCluster.takeOver(file);
    next.write(Bytes.buffer(Arrays.copyOfRange(bytes, SLICE, LENGTH))).get();
    next.close();
    cluster.network().runFor(LEASE.multipliedBy(2));
    assertArrayEquals(bytes, Bytes.read(store.lookup("/f").get().asFile()));
  }
}
