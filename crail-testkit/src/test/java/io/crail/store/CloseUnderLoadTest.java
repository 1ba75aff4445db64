/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.common.error.ClosedException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads that use a store while it is closed get typed errors. An access to memory that is not
 * there any more would end the JVM of this test.
 */
class CloseUnderLoadTest {
  private static final int ROUNDS = Integer.getInteger("crail.test.closes", 40);
  private static final int THREADS = 4;
  private static final int LENGTH = 300_000;

  private final AtomicReference<Throwable> problem = new AtomicReference<>();
  private final AtomicIntegerArray operations = new AtomicIntegerArray(THREADS);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void operationsEndTypedWhileTheirStoreIsClosed(boolean mapped) throws Exception {
    Random random = new Random(Bytes.seed("close under load"));
    try (TestCluster cluster = TestCluster.start()) {
      CrailStore setup = cluster.newStore();
      for (int t = 0; t < THREADS; t++) {
        Bytes.write(setup, "/read-" + t, new byte[LENGTH]);
      }
      for (int round = 0; round < ROUNDS; round++) {
        Bytes.create(setup, "/round-" + round, CrailNodeType.DIRECTORY);
        CrailStore store =
            CrailStore.newInstance(
                cluster.configuration("crail.storage.localmap=" + mapped, "crail.client.loops=2"));
        Thread[] threads = new Thread[THREADS];
        for (int t = 0; t < THREADS; t++) {
          String written = "/round-" + round + "/" + t;
          int kind = t;
          threads[t] = new Thread(() -> useUntilClosed(store, kind, written));
          threads[t].start();
        }
        if (round == 0) {
          TestCluster.await("all work", this::haveAllWorked);
        }
        Thread.sleep(random.nextInt(30));
        store.close();
        for (Thread thread : threads) {
          thread.join(60_000);
          assertTrue(!thread.isAlive(), "a thread hangs");
        }
        assertNull(problem.get());
        assertThrows(ClosedException.class, () -> store.lookup("/read-0"));
        setup.delete("/round-" + round, true).get();
      }
    }
  }

  private boolean haveAllWorked() {
    return IntStream.range(0, THREADS).allMatch(kind -> operations.get(kind) > 0);
  }

  /** Ends with the first error, which has to be that of a closed store. */
  private void useUntilClosed(CrailStore store, int kind, String written) {
    try {
      while (true) {
        switch (kind) {
          case 0 -> readBuffered(store);
          case 1 -> readDirect(store);
          case 2 -> write(store, written);
          default -> writeBuffered(store, written);
        }
        operations.incrementAndGet(kind);
      }
    } catch (ExecutionException e) {
      check(e.getCause());
    } catch (Throwable e) {
      check(e);
    }
  }

  private void check(Throwable error) {
    if (!(error instanceof CrailException crail)
        || !Set.of(ErrorCode.CLOSED, ErrorCode.UNAVAILABLE).contains(crail.code())) {
      problem.set(error);
    }
  }

  private static void readBuffered(CrailStore store) throws Exception {
    CrailFile file = store.lookup("/read-0").get().asFile();
    try (CrailBufferedInputStream in = file.getBufferedInputStream(LENGTH)) {
      byte[] some = new byte[1_000];
      while (in.read(some) > 0) {
        // Until the end, or the error.
      }
    }
  }

  private static void readDirect(CrailStore store) throws Exception {
    CrailFile file = store.lookup("/read-1").get().asFile();
    CrailBuffer buffer = store.allocateBuffer();
    CrailInputStream in = file.getDirectInputStream(LENGTH);
    try {
      for (int i = 0; i < 20; i++) {
        in.seek(0);
        buffer.clear();
        in.read(buffer).get();
      }
    } finally {
      in.close();
      store.freeBuffer(buffer);
    }
  }

  private static void write(CrailStore store, String path) throws Exception {
    CrailFile file = Bytes.createFile(store, path);
    CrailBuffer buffer = store.allocateBuffer();
    CrailOutputStream out = file.getDirectOutputStream(0);
    try {
      for (int i = 0; i < 20; i++) {
        buffer.clear().limit(LENGTH);
        out.write(buffer).get();
      }
    } finally {
      try {
        out.close();
      } finally {
        store.freeBuffer(buffer);
        store.delete(path, false).get();
      }
    }
  }

  private static void writeBuffered(CrailStore store, String path) throws Exception {
    CrailFile file = Bytes.createFile(store, path);
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(0)) {
      byte[] some = new byte[1_000];
      for (int i = 0; i < 2_000; i++) {
        out.write(some);
      }
    }
    store.delete(path, false).get();
  }
}
