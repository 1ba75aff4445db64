/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.fetch;

import static io.crail.spark.fetch.MapOutputs.MIB;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.common.error.ClosedException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.LimitExceededException;
import io.crail.common.error.UnavailableException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.output.CorruptOutputException;
import io.crail.spark.output.MapOutput;
import io.crail.spark.output.OutputId;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("once")
class StreamedBlockTest {
  private static final OutputId ID = new OutputId(1, 1);

  /** Within the third chunk of the second partition. */
  private static final int PLACE = 5 + 2 * MIB + 77;

  private final HostPatience host = new HostPatience(Duration.ofSeconds(30), FetchTime.SYSTEM);
  private MapOutputs outputs;
  private MapOutput output;
  private byte[] file;

  /** What was asked of the file: the position of the first byte of each stream. */
  private final List<Long> starts = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    outputs = new MapOutputs(EmbeddedCrail.builder().mapped(false).set("crail.cachelimit", "2m"));
    Random random = new Random(1);
    outputs.write(
        ID,
        "a",
        new byte[][][] {
          {{1, 2, 3, 4, 5}, MapOutputs.bytes(random, 3 * MIB + 10), {6}},
          {{7}, MapOutputs.bytes(random, MIB), new byte[0]},
        });
    output = outputs.open(ID);
    file = outputs.file(ID);
  }

  @AfterEach
  void stop() throws Exception {
    outputs.close();
  }

  /** All bytes of partitions 1 and 2, in the order in which they are read. */
  private byte[] expected() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(file, 5, 3 * MIB + 11);
    all.write(file, 5 + 3 * MIB + 12, MIB);
    return all.toByteArray();
  }

  /** A stream of some bytes, with an error in front of a position. */
  private class Scripted extends CrailBufferedInputStream {
    private static final int SLICE = 64 << 10;
    private final byte[] bytes;
    private final long errorAt;
    private final Exception error;
    private long next;
    private boolean begun;

    Scripted(byte[] bytes, long errorAt, Exception error) {
      this.bytes = bytes;
      this.errorAt = errorAt;
      this.error = error;
    }

    @Override
    protected ByteBuffer nextSlice(boolean wait) throws IOException {
      if (!begun) {
        begun = true;
        starts.add(next);
      }
      int length = (int) Math.min(SLICE, bytes.length - next);
      if (next + length > errorAt && error != null) {
        throw (IOException) error;
      }
      next += length;
      return length == 0 ? null : ByteBuffer.wrap(bytes, (int) next - length, length).slice();
    }

    @Override
    protected int readAt(long position, byte[] target, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void seek(long position) {
      dropSlice();
      next = position;
    }

    @Override
    public long position() {
      return next - slice().remaining();
    }

    @Override
    public void close() {
      // Nothing to give back.
    }
  }

  /** A place where a thread stands until the test lets it go on. */
  private static final class Stop {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    void pass() {
      reached.countDown();
      await(opened);
    }

    void awaitReached() {
      await(reached);
    }

    void open() {
      opened.countDown();
    }

    private static void await(CountDownLatch latch) {
      try {
        assertTrue(latch.await(60, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** A stream that counts how often it was closed, and is read behind a stop. */
  private final class Stopped extends Scripted {
    private final Stop stop;
    private final AtomicInteger closed = new AtomicInteger();

    Stopped(Stop stop) {
      super(file, 0, null);
      this.stop = stop;
    }

    @Override
    protected ByteBuffer nextSlice(boolean wait) throws IOException {
      stop.pass();
      return super.nextSlice(wait);
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  /** A task ends while another thread of it reads: within the read, or while the file is opened. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aStreamThatIsClosedWhileItIsReadGivesItsBuffersBackAfterThat(boolean opening)
      throws Exception {
    Stop stop = new Stop();
    Stop none = new Stop();
    none.open();
    Stopped stream = new Stopped(opening ? none : stop);
    StreamedBlock block = block(opening ? stop : none, stream);
    InputStream in = block.open();
    FutureTask<Integer> reading = new FutureTask<>(in::read);
    new Thread(reading).start();
    stop.awaitReached();
    block.release();
    assertEquals(0, stream.closed.get(), "the reader uses them");
    stop.open();
    assertEquals(file[5] & 0xff, reading.get(60, TimeUnit.SECONDS));
    assertEquals(1, stream.closed.get());
    assertThrows(ClosedException.class, in::read);
    assertThrows(ClosedException.class, () -> block.open().read());
    block.release();
    assertEquals(1, stream.closed.get());
  }

  private StreamedBlock block(CrailBufferedInputStream... streams) {
    Stop none = new Stop();
    none.open();
    return block(none, streams);
  }

  /** The block of an output whose file gives one stream after the other, behind a stop. */
  private StreamedBlock block(Stop stop, CrailBufferedInputStream... streams) {
    List<CrailBufferedInputStream> left = new ArrayList<>(List.of(streams));
    CrailFile scripted =
        (CrailFile)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {CrailFile.class},
                (proxy, method, arguments) -> {
                  assertEquals("getBufferedInputStream", method.getName());
                  stop.pass();
                  return left.remove(0);
                });
    return new StreamedBlock(new MapOutput(scripted, output.index()), 1, 3, host);
  }

  private byte[] wrong(int place) {
    byte[] wrong = file.clone();
    wrong[place] ^= 1;
    return wrong;
  }

  private CrailBufferedInputStream right() {
    return new Scripted(file, 0, null);
  }

  @Test
  void aConnectionThatIsLostCostsTheChunk() throws Exception {
    Exception lost = ErrorCode.UNAVAILABLE.exception("a test");
    Exception late = ErrorCode.TIMED_OUT.exception("a test");
    try (InputStream in =
        block(new Scripted(file, PLACE, lost), new Scripted(file, PLACE, late), right()).open()) {
      assertArrayEquals(expected(), in.readAllBytes());
    }
    assertEquals(List.of(5L, 5L + 2 * MIB, 5L + 2 * MIB), starts);
  }

  @Test
  void bytesThatWereSpoiltOnTheirWayAreReadOnceMore() throws Exception {
    try (InputStream in = block(new Scripted(wrong(PLACE), 0, null), right()).open()) {
      assertArrayEquals(expected(), in.readAllBytes());
    }
    assertEquals(List.of(5L, 5L + 2 * MIB), starts);
  }

  @Test
  void noWrongByteIsEverUsed() throws Exception {
    byte[] wrong = wrong(PLACE);
    try (InputStream in =
        block(new Scripted(wrong, 0, null), new Scripted(wrong, 0, null)).open()) {
      byte[] before = in.readNBytes(2 * MIB);
      assertArrayEquals(Arrays.copyOfRange(file, 5, 5 + 2 * MIB), before);
      assertThrows(CorruptOutputException.class, in::read);
    }
  }

  /** A deserializer takes an {@link EOFException} for the end of the records. */
  @Test
  void aFileThatEndsTooEarlyIsNoEndOfTheRecords() throws Exception {
    byte[] part = Arrays.copyOf(file, PLACE);
    try (InputStream in = block(new Scripted(part, 0, null), new Scripted(part, 0, null)).open()) {
      assertInstanceOf(
          CorruptOutputException.class, assertThrows(IOException.class, in::readAllBytes));
    }
  }

  @Test
  void noServerAnswersForAsLongAsThePatience() throws Exception {
    HostPatience impatient = new HostPatience(Duration.ZERO, FetchTime.SYSTEM);
    outputs.cluster.stopDatanode(0);
    StreamedBlock block = new StreamedBlock(output, 1, 3, impatient);
    assertThrows(UnavailableException.class, () -> block.open().read());
    block.release();
    assertTrue(impatient.givenUp(System.nanoTime() - TimeUnit.HOURS.toNanos(1)).isPresent());
  }

  private List<CrailBuffer> takeAllBuffers() throws Exception {
    List<CrailBuffer> buffers = new ArrayList<>();
    try {
      while (true) {
        buffers.add(outputs.store.allocateBuffer());
      }
    } catch (LimitExceededException e) {
      return buffers;
    }
  }

  private static <T> Thread begin(FutureTask<T> task) throws InterruptedException {
    Thread thread = new Thread(task);
    thread.start();
    // It has met what it has to wait for.
    MapOutputs.await("a pause", () -> thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }

  @Test
  void waitsForABuffer() throws Exception {
    StreamedBlock block = new StreamedBlock(output, 1, 3, host);
    List<CrailBuffer> buffers = takeAllBuffers();
    FutureTask<byte[]> reading = new FutureTask<>(() -> block.open().readAllBytes());
    begin(reading);
    for (CrailBuffer buffer : buffers) {
      outputs.store.freeBuffer(buffer);
    }
    assertArrayEquals(expected(), reading.get(60, TimeUnit.SECONDS));
    block.release();
  }

  /** Spark would compute the output again, which is not lost. */
  @Test
  void tooFewBuffersAreNoErrorOfReading() throws Exception {
    StreamedBlock block =
        new StreamedBlock(output, 1, 3, new HostPatience(Duration.ZERO, FetchTime.SYSTEM));
    takeAllBuffers();
    UncheckedIOException failure =
        assertThrows(UncheckedIOException.class, () -> block.open().read());
    assertInstanceOf(LimitExceededException.class, failure.getCause());
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    Exception lost = ErrorCode.UNAVAILABLE.exception("a test");
    Callable<Boolean> read =
        () -> {
          assertThrows(
              InterruptedIOException.class, () -> block(new Scripted(file, 0, lost)).open().read());
          return Thread.interrupted();
        };
    FutureTask<Boolean> reading = new FutureTask<>(read);
    begin(reading).interrupt();
    assertTrue(reading.get(10, TimeUnit.SECONDS), "the interrupt stays with the thread");
  }
}
