/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStatistics;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.LimitExceededException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many open streams share the memory of their store, also those that were never closed. */
class OpenStreamsTest {
  /** Readers, and as many writers; 5,000 of each have 512 MiB. */
  private static final int STREAMS = Integer.getInteger("crail.test.streams", 500);

  private static final long BYTES_OF_TWO = (512L << 20) / 5_000;
  private static final int SMALL = 1_000;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void thousandsOfStreamsAreOpen(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore store =
          cluster.newStore(
              "crail.storage.localmap=" + mapped,
              "crail.cachelimit=" + (STREAMS * BYTES_OF_TWO >> 20) + "m");
      byte[] bytes = Bytes.random(new Random(Bytes.seed("open streams")), SMALL);
      CrailFile read = Bytes.write(store, "/read", bytes);
      Bytes.create(store, "/written", CrailNodeType.DIRECTORY);
      List<CrailBufferedInputStream> readers = new ArrayList<>();
      List<CrailBufferedOutputStream> writers = new ArrayList<>();
      for (int i = 0; i < STREAMS; i++) {
        CrailBufferedInputStream reader = read.getBufferedInputStream(SMALL);
        assertEquals(bytes[0] & 0xff, reader.read());
        readers.add(reader);
        CrailBufferedOutputStream writer =
            Bytes.createFile(store, "/written/" + i).getBufferedOutputStream(0);
        writer.write(bytes, 0, SMALL / 2);
        writer.sync().get();
        writers.add(writer);
      }
      for (int i = 0; i < STREAMS; i++) {
        assertArrayEquals(
            Arrays.copyOfRange(bytes, 1, SMALL), readers.get(i).readNBytes(SMALL - 1));
        writers.get(i).write(bytes, SMALL / 2, SMALL / 2);
        writers.get(i).close();
        CrailFile written = store.lookup("/written/" + i).get().asFile();
        try (CrailBufferedInputStream in = written.getBufferedInputStream(SMALL)) {
          assertArrayEquals(bytes, in.readAllBytes());
        }
      }
      assertEquals(
          0,
          store.getStatistics().getLentBuffers(),
          "readers at the end and closed writers hold memory");
      for (CrailBufferedInputStream reader : readers) {
        reader.close();
      }
    }
  }

  /** Readers that stand in the middle of a file need a piece each; the pieces get smaller. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void manyReadersStandInTheMiddle(boolean mapped) throws Exception {
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore store =
          cluster.newStore("crail.storage.localmap=" + mapped, "crail.cachelimit=16m");
      byte[] bytes = Bytes.random(new Random(Bytes.seed("in the middle")), 2 << 20);
      CrailFile file = Bytes.write(store, "/large", bytes);
      List<CrailBufferedInputStream> readers = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        CrailBufferedInputStream reader = file.getBufferedInputStream(bytes.length);
        byte[] begin = reader.readNBytes(1_000_000 + i);
        assertArrayEquals(Arrays.copyOf(bytes, 1_000_000 + i), begin);
        readers.add(reader);
      }
      for (int i = 0; i < readers.size(); i++) {
        byte[] rest = readers.get(i).readAllBytes();
        assertArrayEquals(Arrays.copyOfRange(bytes, 1_000_000 + i, bytes.length), rest);
      }
      assertEquals(0, store.getStatistics().getLentBuffers());
      for (CrailBufferedInputStream reader : readers) {
        reader.close();
      }
    }
  }

  @Test
  void aStreamWaitsABriefTimeForMemory() throws Exception {
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore store = cluster.newStore("crail.cachelimit=2m");
      CrailFile file = Bytes.write(store, "/a", new byte[SMALL]);
      CrailBuffer first = store.allocateBuffer();
      CrailBuffer second = store.allocateBuffer();
      try (CrailBufferedInputStream in = file.getBufferedInputStream(SMALL)) {
        // A look at what is there needs no memory.
        assertEquals(0, in.available());
        long begin = System.nanoTime();
        String message = assertThrows(LimitExceededException.class, in::read).getMessage();
        assertTrue(message.contains("crail.cachelimit"), message);
        long elapsedNanos = System.nanoTime() - begin;
        assertTrue(elapsedNanos >= TimeUnit.MILLISECONDS.toNanos(1500), elapsedNanos + " ns");
        assertTrue(elapsedNanos < TimeUnit.SECONDS.toNanos(30), elapsedNanos + " ns");
        Thread giver =
            new Thread(
                () -> {
                  try {
                    store.freeBuffer(first);
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                });
        giver.start();
        assertEquals(0, in.read());
        giver.join();
      }
      store.freeBuffer(second);
    }
  }

  /** As a program that never closes anything. */
  @Test
  void unclosedStreamsGiveEverythingBack() throws Exception {
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore store = cluster.newStore("crail.cachelimit=4m");
      CrailFile file = Bytes.write(store, "/read", new byte[SMALL]);
      Bytes.create(store, "/written", CrailNodeType.DIRECTORY);
      store
          .create(
              "/many",
              CrailNodeType.MULTIFILE,
              CrailStorageClass.PARENT,
              CrailLocationClass.PARENT,
              true)
          .get()
          .syncDir();
      Bytes.write(store, "/many/1", new byte[SMALL]);
      for (int i = 0; i < 1_200; i++) {
        drop(store, file, i);
      }
      TestCluster.await(
          "all streams are closed",
          () -> {
            System.gc();
            // Looks for dropped streams.
            file.getDirectInputStream(0).close();
            CrailStatistics now = store.getStatistics();
            return now.getOpenInputStreams() + now.getOpenOutputStreams() + now.getWriteLeases()
                == 0;
          });
      assertEquals(0, store.getStatistics().getLentBuffers());
      for (int i = 0; i < 100; i++) {
        // The lease is free, what was flushed or written is there, and nothing else.
        CrailFile written = cluster.newStore().lookup("/written/" + i).get().asFile();
        assertEquals(i % 2 == 0 ? 2 : 3, written.getCapacity());
        Bytes.append(written, new byte[1]);
      }
    }
  }

  private static void drop(CrailStore store, CrailFile file, int i) throws Exception {
    assertEquals(0, file.getBufferedInputStream(SMALL).read());
    CrailInputStream in = file.getDirectInputStream(SMALL);
    in.read(Bytes.empty(10)).get();
    assertEquals(0, store.lookup("/many").get().asMultiFile().getMultiStream(2).read());
    if (i < 100 && i % 2 == 0) {
      CrailBufferedOutputStream out =
          Bytes.createFile(store, "/written/" + i).getBufferedOutputStream(0);
      out.write(new byte[2]);
      out.sync().get();
      out.write(new byte[100]);
    } else if (i < 100) {
      CrailOutputStream out = Bytes.createFile(store, "/written/" + i).getDirectOutputStream(0);
      out.write(Bytes.buffer(new byte[3])).get();
    }
  }
}
