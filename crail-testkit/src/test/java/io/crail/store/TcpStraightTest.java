/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Clock;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.CrailTimeoutException;
import io.crail.common.error.UnavailableException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Large direct buffers, which travel past the slices of a buffered stream, when the way to the
 * datanode ends or stands still in the middle of one.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class TcpStraightTest {
  private static final int SLICE = 64 << 10;

  /** Much more than sockets hold. */
  private static final int LENGTH = 12 << 20;

  private static final Duration LONG = Duration.ofSeconds(60);

  /** Whoever uses it goes on where a busy machine was too slow. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  private static final byte MARK = 0x5a;

  @TempDir Path dataPath;

  private final Random random = new Random(Bytes.seed("straight over TCP"));
  private final byte[] bytes = Bytes.random(random, LENGTH);
  private TestCluster cluster;
  private Middleman middleman;
  private Transport transport;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster =
        TestCluster.of(
            EmbeddedCrail.builder()
                .dataPath(dataPath)
                .storage(48 << 20)
                .mapped(false)
                .set("crail.storage.tcp.allocationsize", "16m")
                .set("crail.rpctimeout", "60s")
                .set("crail.datatimeout", "60s")
                .set("crail.lease", "60s")
                .set("crail.slicesize", String.valueOf(SLICE))
                .set("crail.buffersize", String.valueOf(2 * SLICE))
                .set("crail.cachelimit", String.valueOf(2 * SLICE))
                .start());
    middleman = new Middleman();
  }

  @AfterEach
  void stop() throws Exception {
    Thread.interrupted();
    try {
      // Nothing is under way any more, so the only buffer is there.
      store.freeBuffer(store.allocateBuffer());
      store.close();
    } finally {
      transport.close();
      middleman.close();
      cluster.close();
    }
  }

  /** The store that the middleman stands before. */
  private void open(Duration timeout) {
    Configuration configuration =
        cluster.configuration().toBuilder()
            .set("crail.datatimeout", timeout.toMillis() + "ms", "test")
            .build();
    transport = TransportProvider.open(configuration);
    store = CoreStore.open(configuration, transport, Clock.SYSTEM, middleman::tier);
  }

  /** Opens a stream on a file of {@link #bytes} that has read a byte, so that it knows its way. */
  private CrailBufferedInputStream input() throws Exception {
    Bytes.write(cluster.newStore(), "/f", bytes);
    CrailFile file = store.lookup("/f").get().asFile();
    CrailBufferedInputStream input = file.getBufferedInputStream(LENGTH);
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (input.position() == 0) {
      try {
        assertEquals(bytes[0] & 0xff, input.read());
      } catch (CrailTimeoutException e) {
        assertTrue(System.nanoTime() - deadline < 0, e.toString());
      }
    }
    return input;
  }

  /** Opens a stream on a new file that has written a slice, so that it knows its way. */
  private CrailBufferedOutputStream output(CrailFile file) throws Exception {
    CrailBufferedOutputStream output = file.getBufferedOutputStream(LENGTH);
    try {
      output.write(bytes, 0, SLICE);
      output.purge().get();
      return output;
    } catch (ExecutionException e) {
      // Who tries again needs its memory.
      assertThrows(CrailException.class, output::close);
      throw e;
    }
  }

  private static ByteBuffer empty() {
    return ByteBuffer.allocateDirect(LENGTH);
  }

  /** A direct buffer of {@link #bytes}, after the first slice. */
  private ByteBuffer full() {
    return ByteBuffer.allocateDirect(LENGTH).put(bytes).position(SLICE);
  }

  /** Does something in the middle of the next transfer. */
  private CompletableFuture<Void> halfway(Step step) {
    middleman.letPass(LENGTH / 2);
    return CompletableFuture.runAsync(
        () -> {
          try {
            middleman.awaitHeld();
            step.run();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private interface Step {
    void run() throws Exception;
  }

  /** The call of a read has ended, well or not; reads the rest, and finds nothing else there. */
  private void assertGoesOn(CrailBufferedInputStream input, ByteBuffer target) throws Exception {
    int consumed = target.position();
    assertEquals(1 + consumed, input.position());
    assertEquals(ByteBuffer.wrap(bytes, 1, consumed), target.duplicate().flip());
    ByteBuffer unread = target.duplicate();
    while (unread.hasRemaining()) {
      unread.put(MARK);
    }
    ByteBuffer rest = empty().limit(LENGTH - 1 - consumed);
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (rest.hasRemaining()) {
      try {
        assertTrue(input.read(rest) > 0);
      } catch (CrailTimeoutException | UnavailableException e) {
        assertTrue(System.nanoTime() - deadline < 0, e.toString());
      }
    }
    assertEquals(ByteBuffer.wrap(bytes, 1 + consumed, LENGTH - 1 - consumed), rest.flip());
    assertEquals(-1, input.read());
    input.close();
    for (unread.position(consumed); unread.hasRemaining(); ) {
      assertEquals(MARK, unread.get(), "written to after the end");
    }
  }

  @Test
  void aReadSurvivesACutConnection() throws Exception {
    open(LONG);
    CrailBufferedInputStream input = input();
    CompletableFuture<Void> cut = halfway(() -> middleman.cut(false));
    ByteBuffer target = empty();
    assertEquals(LENGTH - 1, input.read(target));
    cut.get();
    assertGoesOn(input, target);
  }

  @Test
  void aReadFailsWithItsDatanodeAndGoesOnWithIt() throws Exception {
    open(LONG);
    CrailBufferedInputStream input = input();
    CompletableFuture<Void> cut = halfway(() -> middleman.cut(true));
    ByteBuffer target = empty();
    assertThrows(UnavailableException.class, () -> input.read(target));
    cut.get();
    middleman.heal();
    assertGoesOn(input, target);
  }

  @Test
  void aReadThatStandsStillEndsAtItsDeadline() throws Exception {
    open(SHORT);
    CrailBufferedInputStream input = input();
    CompletableFuture<Void> held = halfway(() -> {});
    ByteBuffer target = empty();
    assertThrows(CrailTimeoutException.class, () -> input.read(target));
    held.get();
    // Now comes an answer without a waiter.
    middleman.letAllPass();
    assertGoesOn(input, target);
  }

  @Test
  void anInterruptedReadEndsWhenItsMemoryIsFree() throws Exception {
    open(LONG);
    CrailBufferedInputStream input = input();
    Thread self = Thread.currentThread();
    CompletableFuture<Void> interrupted =
        halfway(
            () -> {
              self.interrupt();
              middleman.letAllPass();
            });
    ByteBuffer target = empty();
    try {
      assertEquals(LENGTH - 1, input.read(target));
    } catch (InterruptedIOException e) {
      // It has waited for a slice.
    }
    assertTrue(Thread.interrupted(), "the interrupt got lost");
    interrupted.get();
    assertGoesOn(input, target);
  }

  private void assertWritten(String path) throws Exception {
    byte[] found = Bytes.read(cluster.newStore().lookup(path).get().asFile());
    assertEquals(ByteBuffer.wrap(bytes), ByteBuffer.wrap(found));
  }

  @Test
  void aWriteSurvivesACutConnection() throws Exception {
    open(LONG);
    CrailBufferedOutputStream output = output(Bytes.createFile(store, "/f"));
    CompletableFuture<Void> cut = halfway(() -> middleman.cut(false));
    ByteBuffer source = full();
    output.write(source);
    assertFalse(source.hasRemaining());
    cut.get();
    output.close();
    assertWritten("/f");
  }

  @Test
  void anInterruptedWriteEndsWhenItsMemoryIsFree() throws Exception {
    open(LONG);
    CrailBufferedOutputStream output = output(Bytes.createFile(store, "/f"));
    Thread self = Thread.currentThread();
    CompletableFuture<Void> interrupted =
        halfway(
            () -> {
              self.interrupt();
              middleman.letAllPass();
            });
    ByteBuffer source = full();
    try {
      output.write(source);
    } catch (InterruptedIOException e) {
      // It has waited for a slice.
    }
    assertTrue(Thread.interrupted(), "the interrupt got lost");
    interrupted.get();
    ByteBuffer rest = empty().put(source).flip();
    overwrite(source);
    output.write(rest);
    output.close();
    assertWritten("/f");
  }

  @Test
  void aWriteFailsWithItsDatanode() throws Exception {
    open(LONG);
    CrailFile file = Bytes.createFile(store, "/failed");
    CrailBufferedOutputStream output = output(file);
    CompletableFuture<Void> cut = halfway(() -> middleman.cut(true));
    ByteBuffer source = full();
    assertThrows(UnavailableException.class, () -> output.write(source));
    overwrite(source);
    cut.get();
    middleman.heal();
    assertFailed(file, output, UnavailableException.class);
  }

  @Test
  void aWriteThatStandsStillEndsAtItsDeadline() throws Exception {
    open(SHORT);
    AtomicReference<CrailFile> file = new AtomicReference<>();
    AtomicReference<CrailBufferedOutputStream> output = new AtomicReference<>();
    untilItWorks(
        path -> {
          file.set(Bytes.createFile(store, path));
          output.set(output(file.get()));
        });
    CompletableFuture<Void> held = halfway(() -> {});
    ByteBuffer source = full();
    assertThrows(CrailTimeoutException.class, () -> output.get().write(source));
    overwrite(source);
    held.get();
    middleman.letAllPass();
    assertFailed(file.get(), output.get(), CrailTimeoutException.class);
  }

  /** The memory is the caller's again. */
  private static void overwrite(ByteBuffer source) {
    for (int i = 0; i < LENGTH; i++) {
      source.put(i, MARK);
    }
  }

  /** A stream has failed; its store has not, and nothing of what the memory holds now arrives. */
  private void assertFailed(
      CrailFile file, CrailBufferedOutputStream output, Class<? extends IOException> cause)
      throws Exception {
    assertThrows(cause, () -> output.write(new byte[SLICE]));
    assertThrows(cause, output::close);
    String path =
        untilItWorks(
            next -> {
              try (CrailBufferedOutputStream another = output(Bytes.createFile(store, next))) {
                another.write(full());
              }
            });
    assertWritten(path);
    store.delete(file.getPath(), false).get();
    byte[] marks = new byte[4096];
    Arrays.fill(marks, MARK);
    for (Path region : regions()) {
      byte[] all = Files.readAllBytes(region);
      for (int at = 0; at < all.length; at += marks.length) {
        boolean marked = Arrays.equals(all, at, at + marks.length, marks, 0, marks.length);
        assertFalse(marked, "read after the end");
      }
    }
  }

  private interface Attempt {
    void on(String path) throws Exception;
  }

  /** Tries on one path after the other until nothing takes too long; gives the last one. */
  private static String untilItWorks(Attempt attempt) throws Exception {
    long deadline = System.nanoTime() + LONG.toNanos();
    for (int i = 0; ; i++) {
      String path = "/attempt" + i + "-" + System.nanoTime();
      try {
        attempt.on(path);
        return path;
      } catch (CrailTimeoutException | ExecutionException e) {
        assertTrue(System.nanoTime() - deadline < 0, e.toString());
      }
    }
  }

  private List<Path> regions() throws IOException {
    try (Stream<Path> files = Files.walk(dataPath)) {
      List<Path> regions =
          files.filter(file -> file.getFileName().toString().matches("region-\\d+")).toList();
      assertFalse(regions.isEmpty());
      return regions;
    }
  }
}
