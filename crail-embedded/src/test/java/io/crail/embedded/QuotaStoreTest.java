/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailContainer;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.InvalidArgumentException;
import io.crail.common.error.LimitExceededException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.DirectoryUsage;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.part.NodePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What users see of quotas: hard limits, errors at once, and exact numbers. */
@Timeout(120)
class QuotaStoreTest {
  private static final int WRITERS = 4;
  private static final long BYTES = 6 << 20;
  private static final long NAMES = 60;
  private static final CompoundOperation USAGE = CompoundOperation.builder().readUsage().build();

  private static CrailNode create(CrailStore store, CrailNodeType type, String path)
      throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
  }

  private static void limit(CrailStore store, String path, long bytes, long names)
      throws Exception {
    store.operate(path, CompoundOperation.builder().limit(bytes, names).build()).get().orThrow();
  }

  private static DirectoryUsage usage(CrailStore store, String path) throws Exception {
    return store.operate(path, USAGE).get().orThrow().usage(0);
  }

  private static CrailBuffer buffer(int length) throws Exception {
    return OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length));
  }

  private static CrailException causeOf(Throwable thrown) {
    Throwable cause = thrown;
    while (!(cause instanceof CrailException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return assertInstanceOf(CrailException.class, cause, thrown::toString);
  }

  /** A client that writes in every way there is. */
  private static final class Writer {
    private final CrailStore store;
    private final Random random;
    private final int index;
    private final AtomicInteger refusals;

    Writer(CrailStore store, int index, AtomicInteger refusals) {
      this.store = store;
      this.random = new Random(index);
      this.index = index;
      this.refusals = refusals;
    }

    private void round(int round) throws Exception {
      String file = "/q/" + index + "-" + random.nextInt(12);
      String key = "/q/t/" + index + "-" + random.nextInt(12);
      switch (random.nextInt(7)) {
        case 0 -> {
          CrailNode node = create(store, CrailNodeType.DATAFILE, file);
          CrailOutputStream out = node.asFile().getDirectOutputStream(0);
          try (AutoCloseable closing = out::close) {
            out.write(buffer(1 + random.nextInt(400_000))).get();
          }
        }
        case 1 -> {
          CrailNode node = store.lookup(file).get();
          if (node != null) {
            try (CrailBufferedOutputStream out = node.asFile().getBufferedOutputStream(0)) {
              out.write(new byte[random.nextInt(400_000)]);
            }
          }
        }
        case 2 -> store.put(key, buffer(1 + random.nextInt(200_000))).get();
        case 3 -> store.put(key, buffer(1 + random.nextInt(60_000))).get();
        case 4 ->
            store
                .operate(
                    key,
                    CompoundOperation.builder()
                        .create()
                        .orGoOn()
                        .append(new byte[random.nextInt(20_000)])
                        .build())
                .get();
        case 5 -> {
          if (store.lookup(file).get() != null) {
            store.rename(file, "/q/" + index + "-" + random.nextInt(12)).get();
          }
        }
        default -> {
          String gone = random.nextBoolean() ? file : key;
          if (store.lookup(gone).get() != null) {
            store.delete(gone, false).get();
          }
        }
      }
    }

    Void run() throws Exception {
      for (int round = 0; round < 300; round++) {
        try {
          round(round);
        } catch (ExecutionException | IOException e) {
          CrailException cause = causeOf(e);
          if (cause.code() == ErrorCode.QUOTA_EXCEEDED) {
            refusals.incrementAndGet();
            assertInstanceOf(LimitExceededException.class, cause);
            assertTrue(cause.detail().contains("the quota of /q "), cause.detail());
          } else {
            // After a refused write a stream may hold its lease for a while.
            assertTrue(
                cause.code() == ErrorCode.NODE_EXISTS
                    || cause.code() == ErrorCode.WRITE_LEASE_HELD
                    || cause.code() == ErrorCode.CROSS_NAMENODE,
                cause.toString());
          }
        }
      }
      return null;
    }
  }

  /** Other namenodes say a few times a second what is used there. */
  private static DirectoryUsage awaitUsage(
      CrailStore store, String path, Predicate<DirectoryUsage> awaited) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    DirectoryUsage usage = usage(store, path);
    while (!awaited.test(usage)) {
      assertTrue(System.nanoTime() < end, usage::toString);
      Thread.sleep(20);
      usage = usage(store, path);
    }
    return usage;
  }

  private static long countBelow(CrailContainer container, long[] bytes) throws Exception {
    long names = 0;
    for (Iterator<CrailNode> each = container.listStatus(); each.hasNext(); ) {
      CrailNode node = each.next();
      names++;
      if (node.getType().isContainer()) {
        names += countBelow(node.asContainer(), bytes);
      } else {
        bytes[0] += node.getCapacity();
      }
    }
    return names;
  }

  private static void createSpread(CrailStore store, String path) throws Exception {
    store
        .createSpread(
            path,
            CrailNodeType.DIRECTORY,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
  }

  /** With several namenodes, the directory is at all of them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void manyWritersNeverGetAboveALimit(int namenodes) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder().namenodes(namenodes).storage(64 << 20).start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      createSpread(store, "/q");
      limit(store, "/q", BYTES, NAMES);
      create(store, CrailNodeType.TABLE, "/q/t");
      AtomicInteger refusals = new AtomicInteger();
      List<Future<Void>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        writers.add(threads.submit(new Writer(store, i, refusals)::run));
      }
      while (!writers.stream().allMatch(Future::isDone)) {
        DirectoryUsage usage = usage(store, "/q");
        assertTrue(usage.bytes() >= 0 && usage.bytes() <= BYTES, usage::toString);
        assertTrue(usage.names() >= 0 && usage.names() <= NAMES, usage::toString);
      }
      for (Future<Void> writer : writers) {
        writer.get(60, TimeUnit.SECONDS);
      }
      assertTrue(refusals.get() > 0, "never refused");
      long[] bytes = new long[1];
      long names = countBelow(store.lookup("/q").get().asContainer(), bytes);
      DirectoryUsage usage = awaitUsage(store, "/q", all -> all.names() == names);
      assertTrue(usage.bytes() >= bytes[0], () -> usage + ", and there are " + bytes[0]);
      store.delete("/q/t", true).get();
      for (Iterator<CrailNode> each = store.lookup("/q").get().asContainer().listStatus();
          each.hasNext(); ) {
        store.delete(each.next().getPath(), false).get();
      }
      awaitUsage(store, "/q", new DirectoryUsage("/q", 0, BYTES, 0, NAMES)::equals);
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void aRefusedWriterDoesNotWaitAndKeepsWhatItHas() throws Exception {
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder()
                .storage(64 << 20)
                .set("crail.client.spacepatience", "60m")
                .start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      create(store, CrailNodeType.DIRECTORY, "/q");
      limit(store, "/q", 64 << 10, -1);
      CrailNode file = create(store, CrailNodeType.DATAFILE, "/q/f");
      CrailOutputStream out = file.asFile().getDirectOutputStream(0);
      out.write(buffer(64 << 10)).get();
      CrailException refused =
          causeOf(assertThrows(Exception.class, () -> out.write(buffer(1)).get()));
      assertEquals(ErrorCode.QUOTA_EXCEEDED, refused.code());
      assertTrue(refused.detail().contains("65536 bytes, and 65536 are used"), refused.detail());
      try {
        out.close();
      } catch (Exception e) {
        assertEquals(ErrorCode.QUOTA_EXCEEDED, causeOf(e).code());
      }
      assertEquals(64 << 10, store.lookup("/q/f").get().getCapacity());
      // With more room the next writer goes on.
      limit(store, "/q", 128 << 10, -1);
      assertEquals(64 << 10, usage(store, "/q").bytes());
    }
  }

  /** What a stream has kept for itself is refused at its close, and the lease ends all the same. */
  @Test
  void aSmallFileThatIsRefusedCanBeWrittenAgainAtOnce() throws Exception {
    try (EmbeddedCrail crail =
            EmbeddedCrail.builder()
                .storage(64 << 20)
                .set("crail.namenode.smallvalue", "64k")
                .set("crail.namenode.smallfiles", "true")
                .start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      create(store, CrailNodeType.DIRECTORY, "/q");
      limit(store, "/q", 10, -1);
      CrailNode file = create(store, CrailNodeType.DATAFILE, "/q/f");
      assertEquals(ErrorCode.QUOTA_EXCEEDED, causeOf(refused(file)).code());
      limit(store, "/q", 1000, -1);
      write(file);
      assertEquals(100, store.lookup("/q/f").get().getCapacity());
      assertEquals(100, usage(store, "/q").bytes());
    }
  }

  private static Exception refused(CrailNode file) {
    return assertThrows(Exception.class, () -> write(file));
  }

  private static void write(CrailNode file) throws Exception {
    CrailOutputStream out = file.asFile().getDirectOutputStream(0);
    out.write(buffer(100)).get();
    out.close();
  }

  @Test
  void severalNamenodes() throws Exception {
    try (EmbeddedCrail crail = EmbeddedCrail.builder().storage(64 << 20).namenodes(2).start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      for (String path : List.of("/a", "/b", "/c", "/d")) {
        create(store, CrailNodeType.DIRECTORY, path);
        limit(store, path, -1, 1);
        create(store, CrailNodeType.DIRECTORY, path + "/only");
        Throwable refused =
            assertThrows(
                ExecutionException.class,
                () -> create(store, CrailNodeType.DIRECTORY, path + "/one-more"));
        assertEquals(ErrorCode.QUOTA_EXCEEDED, causeOf(refused).code());
        Throwable spread =
            assertThrows(
                ExecutionException.class,
                () ->
                    store
                        .createSpread(
                            path + "/only/s",
                            CrailNodeType.DIRECTORY,
                            CrailStorageClass.DEFAULT,
                            CrailLocationClass.DEFAULT,
                            true)
                        .get());
        assertInstanceOf(InvalidArgumentException.class, causeOf(spread));
      }
      // Directories in a spread one have limits too, each at its namenode.
      createSpread(store, "/s");
      for (int i = 0; i < 6; i++) {
        String path = "/s/" + i;
        create(store, CrailNodeType.DIRECTORY, path);
        limit(store, path, -1, 1);
        create(store, CrailNodeType.DATAFILE, path + "/f");
        assertEquals(new DirectoryUsage(path, 0, -1, 1, 1), usage(store, path));
      }
      store.delete("/s", true).get();
    }
  }

  /** Creates names of its own until it has been refused for long, and counts them. */
  private static int fill(CrailStore store, String path, int limit, AtomicInteger made)
      throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    int own = 0;
    for (int i = 0; made.get() < limit; i++) {
      assertTrue(System.nanoTime() < end, made + " of " + limit);
      try {
        create(store, CrailNodeType.DATAFILE, path + '-' + i);
        own++;
        assertTrue(made.incrementAndGet() <= limit, made + " of " + limit);
      } catch (ExecutionException e) {
        assertEquals(ErrorCode.QUOTA_EXCEEDED, causeOf(e).code());
        Thread.sleep(1);
      }
    }
    return own;
  }

  @Test
  void theLimitsOfASpreadDirectoryHoldAndAreReached() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(WRITERS);
    try (EmbeddedCrail crail = EmbeddedCrail.builder().storage(64 << 20).namenodes(3).start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      createSpread(store, "/full");
      create(store, CrailNodeType.DATAFILE, "/full/child");
      assertEquals(
          ErrorCode.NOT_EMPTY,
          causeOf(assertThrows(Exception.class, () -> limit(store, "/full", 1, 1))).code());

      createSpread(store, "/s");
      int limit = 100;
      limit(store, "/s", -1, limit);
      // All namenodes have their part at once.
      for (int i = 0; i < 12; i++) {
        create(store, CrailNodeType.DATAFILE, "/s/first-" + i);
      }
      AtomicInteger made = new AtomicInteger(12);
      List<Future<Integer>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        String path = "/s/" + i;
        writers.add(threads.submit(() -> fill(store, path, limit, made)));
      }
      int sum = 12;
      for (Future<Integer> writer : writers) {
        sum += writer.get(90, TimeUnit.SECONDS);
      }
      assertEquals(limit, sum);
      assertEquals(limit, countBelow(store.lookup("/s").get().asContainer(), new long[1]));
      awaitUsage(store, "/s", new DirectoryUsage("/s", 0, -1, limit, limit)::equals);

      // Below what is there, nothing is added anywhere until there is less.
      limit(store, "/s", -1, 50);
      for (int i = 0; i < 12; i++) {
        String path = "/s/more-" + i;
        assertThrows(ExecutionException.class, () -> create(store, CrailNodeType.DATAFILE, path));
      }
      limit(store, "/s", -1, -1);
      for (int i = 0; i < 12; i++) {
        create(store, CrailNodeType.DATAFILE, "/s/more-" + i);
      }
    } finally {
      threads.shutdownNow();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  /** What is there of a namenode that is started again is gone, and others may use that. */
  @Test
  void aNamenodeThatIsStartedAgainBeginsWithNothing() throws Exception {
    try (EmbeddedCrail crail = EmbeddedCrail.builder().storage(64 << 20).namenodes(2).start();
        CrailStore store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()))) {
      createSpread(store, "/s");
      limit(store, "/s", -1, 20);
      AtomicInteger made = new AtomicInteger();
      fill(store, "/s/a", 20, made);
      int other = 1 - NodePath.namenodeOf(Utf8.of("/s"), 2);
      crail.restartNamenode(other);
      DirectoryUsage left = awaitUsage(store, "/s", usage -> usage.names() < 20);
      made.set((int) left.names());
      assertTrue(left.names() > 0, left::toString);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      for (int i = 0; made.get() < 20; i++) {
        assertTrue(System.nanoTime() < end, made::toString);
        try {
          create(store, CrailNodeType.DATAFILE, "/s/b-" + i);
          made.incrementAndGet();
        } catch (ExecutionException e) {
          // Until it has a share again, and that a slice.
          Thread.sleep(20);
        }
      }
      assertThrows(ExecutionException.class, () -> create(store, CrailNodeType.DATAFILE, "/s/c"));
      assertEquals(20, countBelow(store.lookup("/s").get().asContainer(), new long[1]));
    }
  }
}
