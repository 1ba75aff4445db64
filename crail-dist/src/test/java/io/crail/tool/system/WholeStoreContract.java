/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailContainer;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.protocol.part.NodePath;
import io.crail.tool.Ran;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a store with two namenodes and two datanodes, each in its own process. Clients access the
 * data both through mapped memory and over the network. A subclass chooses the network and the
 * tiers.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WholeStoreContract {
  private static final int MIB = 1 << 20;

  private ProcessCluster cluster;

  /** Starts two namenodes and two datanodes. */
  abstract ProcessCluster newCluster() throws Exception;

  /** The running cluster. */
  final ProcessCluster cluster() {
    return cluster;
  }

  @BeforeAll
  final void start() throws Exception {
    cluster = newCluster();
  }

  @AfterAll
  final void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  private CrailStore open(boolean mapped) throws Exception {
    return CrailStore.newInstance(
        CrailConfiguration.of(
            cluster.configuration("crail.storage.localmap", String.valueOf(mapped))));
  }

  private static CrailNode create(CrailStore store, String path, CrailNodeType type)
      throws Exception {
    return store
        .create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  private static CrailNode lookup(CrailStore store, String path) throws Exception {
    return store.lookup(path).get(60, TimeUnit.SECONDS);
  }

  private static void write(CrailFile file, byte[] bytes) throws Exception {
    try (CrailBufferedOutputStream out = file.getBufferedOutputStream(bytes.length)) {
      out.write(bytes);
    }
  }

  private static byte[] read(CrailFile file) throws Exception {
    try (CrailBufferedInputStream in = file.getBufferedInputStream(file.getCapacity())) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      in.transferTo(bytes);
      return bytes.toByteArray();
    }
  }

  private static byte[] randomBytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static ErrorCode codeOf(Executable action) {
    Throwable failure = assertThrows(Exception.class, action);
    while (failure != null && !(failure instanceof CrailException)) {
      failure = failure.getCause();
    }
    assertTrue(failure instanceof CrailException, "no typed error");
    return ((CrailException) failure).code();
  }

  private static TreeSet<String> names(CrailContainer container) throws Exception {
    TreeSet<String> names = new TreeSet<>();
    for (Iterator<String> entries = container.listEntries(); entries.hasNext(); ) {
      names.add(entries.next());
    }
    return names;
  }

  /** Two top-level names that live on different namenodes. */
  private static String[] namesOnBothNamenodes(String prefix) {
    String[] names = new String[2];
    for (int i = 0; names[0] == null || names[1] == null; i++) {
      String name = "/" + prefix + i;
      names[NodePath.namenodeOf(Utf8.of(name), 2)] = name;
    }
    return names;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyTypeOfNode(boolean mapped) throws Exception {
    CrailStore store = open(mapped);
    try {
      for (String top : namesOnBothNamenodes("types-" + mapped)) {
        create(store, top, CrailNodeType.DIRECTORY);
        create(store, top + "/multi", CrailNodeType.MULTIFILE);
        create(store, top + "/table", CrailNodeType.TABLE);
        byte[] bytes = randomBytes(new Random(1), 100_000);
        write(create(store, top + "/file", CrailNodeType.DATAFILE).asFile(), bytes);
        write(create(store, top + "/table/key", CrailNodeType.KEYVALUE).asKeyValue(), bytes);
        for (int i = 0; i < 3; i++) {
          write(
              create(store, top + "/multi/" + i, CrailNodeType.DATAFILE).asFile(),
              new byte[] {(byte) i, (byte) i});
        }

        CrailNode file = lookup(store, top + "/file");
        assertEquals(CrailNodeType.DATAFILE, file.getType());
        assertEquals(bytes.length, file.getCapacity());
        assertArrayEquals(bytes, read(file.asFile()));
        assertArrayEquals(bytes, read(lookup(store, top + "/table/key").asKeyValue()));
        assertEquals(
            new TreeSet<>(Arrays.asList(top + "/multi", top + "/table", top + "/file")),
            names(lookup(store, top).asDirectory()));
        try (CrailBufferedInputStream in =
            lookup(store, top + "/multi").asMultiFile().getMultiStream(2)) {
          byte[] all = in.readAllBytes();
          Arrays.sort(all);
          assertArrayEquals(new byte[] {0, 0, 1, 1, 2, 2}, all);
        }
        assertNull(lookup(store, top + "/nothing"));
        assertEquals(
            ErrorCode.WRONG_TYPE,
            codeOf(() -> create(store, top + "/table/file", CrailNodeType.DATAFILE)));
        assertEquals(
            ErrorCode.NODE_EXISTS,
            codeOf(() -> create(store, top + "/file", CrailNodeType.DATAFILE)));
        assertEquals(ErrorCode.NOT_EMPTY, codeOf(() -> store.delete(top, false).get()));
        store.delete(top, true).get();
        assertNull(lookup(store, top + "/file"));
      }
    } finally {
      store.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fsckReadsFromTheDatanodes(boolean mapped) throws Exception {
    CrailStore store = open(mapped);
    try {
      for (String path : namesOnBothNamenodes("fsck-" + mapped)) {
        write(create(store, path, CrailNodeType.DATAFILE).asFile(), new byte[3 * MIB]);
      }
      Ran ran =
          Ran.run(
              cluster.directory(), "fsck", "--data", "--set", "crail.storage.localmap=" + mapped);
      assertEquals(0, ran.code(), ran::toString);
      assertTrue(
          ran.stdout().contains("; stale: 0 files (0 B); unread: 0 files (0 B)\n"), ran::toString);
      assertFalse(ran.stdout().contains("read from 0 extents"), ran::toString);
    } finally {
      store.close();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void randomStreamsGiveTheBytesThatWereWritten(boolean mapped) throws Exception {
    long seed = Long.getLong("crail.seed", System.nanoTime());
    System.out.println("-Dcrail.seed=" + seed);
    Random random = new Random(seed);
    CrailStore store = open(mapped);
    try {
      String path = "/random-streams-" + mapped;
      byte[] expected = randomBytes(random, 7 * MIB + random.nextInt(MIB));
      CrailFile file = create(store, path, CrailNodeType.DATAFILE).asFile();
      writeInPieces(file, expected, random);
      CrailFile found = lookup(store, path).asFile();
      assertEquals(expected.length, found.getCapacity());
      readInPieces(found, expected, random);
      assertArrayEquals(expected, read(found), () -> "-Dcrail.seed=" + seed);
      store.delete(path, false).get();
    } finally {
      store.close();
    }
  }

  /** Writes direct buffers of random lengths, of which only a part is meant, several in flight. */
  private static void writeInPieces(CrailFile file, byte[] bytes, Random random) throws Exception {
    CrailOutputStream out = file.getDirectOutputStream(random.nextBoolean() ? bytes.length : 0);
    Deque<Future<CrailResult>> inFlight = new ArrayDeque<>();
    int position = 0;
    while (position < bytes.length) {
      int length =
          Math.min(bytes.length - position, 1 + random.nextInt(random.nextInt(2 * MIB) + 1));
      OffHeapBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length + 20));
      int begin = random.nextInt(10);
      buffer.position(begin);
      buffer.put(bytes, position, length);
      buffer.position(begin);
      buffer.limit(begin + length);
      inFlight.add(out.write(buffer));
      assertEquals(begin + length, buffer.limit());
      position += length;
      assertEquals(position, out.position());
      if (inFlight.size() > random.nextInt(6)) {
        assertTrue(inFlight.remove().get(60, TimeUnit.SECONDS).getLen() > 0);
      }
    }
    for (Future<CrailResult> write : inFlight) {
      write.get(60, TimeUnit.SECONDS);
    }
    out.close();
  }

  /** Reads random ranges into the middle of direct buffers, several in flight. */
  private static void readInPieces(CrailFile file, byte[] expected, Random random)
      throws Exception {
    record Read(
        OffHeapBuffer buffer, int begin, int position, int length, Future<CrailResult> end) {}

    CrailInputStream in = file.getDirectInputStream(0);
    Deque<Read> inFlight = new ArrayDeque<>();
    for (int i = 0; i < 200 || !inFlight.isEmpty(); i++) {
      if (i < 200) {
        int position = random.nextInt(expected.length);
        int length =
            Math.min(expected.length - position, 1 + random.nextInt(random.nextInt(MIB) + 1));
        OffHeapBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(length + 20));
        int begin = random.nextInt(10);
        buffer.position(begin);
        buffer.limit(begin + length);
        in.seek(position);
        inFlight.add(new Read(buffer, begin, position, length, in.read(buffer)));
        assertEquals(position + length, in.position());
      }
      if (i >= 200 || inFlight.size() > random.nextInt(6)) {
        Read read = inFlight.remove();
        assertEquals(read.length, read.end.get(60, TimeUnit.SECONDS).getLen());
        assertEquals(read.begin + read.length, read.buffer.limit());
        byte[] actual = new byte[read.length];
        read.buffer.position(read.begin);
        read.buffer.get(actual);
        assertArrayEquals(
            Arrays.copyOfRange(expected, read.position, read.position + read.length), actual);
        read.buffer.limit(read.buffer.capacity());
        for (int at = 0; at < read.begin; at++) {
          read.buffer.position(at);
          assertEquals(0, read.buffer.get(), "a byte in front of the range was written");
        }
        read.buffer.position(read.begin + read.length);
        while (read.buffer.hasRemaining()) {
          assertEquals(0, read.buffer.get(), "a byte after the range was written");
        }
      }
    }
    in.close();
  }

  @Test
  void replacedValueIsStaleForWhoHoldsTheOldOne() throws Exception {
    CrailStore store = open(false);
    try {
      create(store, "/kv", CrailNodeType.TABLE);
      write(create(store, "/kv/key", CrailNodeType.KEYVALUE).asKeyValue(), new byte[] {1});
      CrailFile old = lookup(store, "/kv/key").asKeyValue();
      assertArrayEquals(new byte[] {1}, read(old));
      write(create(store, "/kv/key", CrailNodeType.KEYVALUE).asKeyValue(), new byte[] {2, 2});
      assertArrayEquals(new byte[] {2, 2}, read(lookup(store, "/kv/key").asKeyValue()));
      assertEquals(ErrorCode.STALE_NODE, codeOf(() -> read(old)));
      assertEquals(1, names(lookup(store, "/kv").asTable()).size());
      store.delete("/kv", true).get();
    } finally {
      store.close();
    }
  }

  @Test
  void secondWriterIsRefusedUntilTheFirstHasClosed() throws Exception {
    CrailStore first = open(true);
    CrailStore second = open(false);
    try {
      CrailFile file = create(first, "/one-writer", CrailNodeType.DATAFILE).asFile();
      CrailBufferedOutputStream out = file.getBufferedOutputStream(0);
      out.write(new byte[] {1, 2, 3});
      CrailFile same = lookup(second, "/one-writer").asFile();
      assertEquals(ErrorCode.WRITE_LEASE_HELD, codeOf(() -> write(same, new byte[] {4})));
      out.close();
      write(lookup(second, "/one-writer").asFile(), new byte[] {4, 5});
      assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, read(lookup(first, "/one-writer").asFile()));
      first.delete("/one-writer", false).get();
    } finally {
      first.close();
      second.close();
    }
  }

  @Test
  void renameStaysWithinANamenode() throws Exception {
    CrailStore store = open(true);
    try {
      String[] tops = namesOnBothNamenodes("rename");
      for (String top : tops) {
        create(store, top, CrailNodeType.DIRECTORY);
      }
      write(create(store, tops[0] + "/a", CrailNodeType.DATAFILE).asFile(), new byte[] {7});
      store.rename(tops[0] + "/a", tops[0] + "/b").get();
      assertNull(lookup(store, tops[0] + "/a"));
      assertArrayEquals(new byte[] {7}, read(lookup(store, tops[0] + "/b").asFile()));
      assertEquals(
          ErrorCode.CROSS_NAMENODE,
          codeOf(() -> store.rename(tops[0] + "/b", tops[1] + "/b").get()));
      assertArrayEquals(new byte[] {7}, read(lookup(store, tops[0] + "/b").asFile()));
      TreeSet<String> root = names(lookup(store, "/").asDirectory());
      assertTrue(root.containsAll(Arrays.asList(tops)), root.toString());
      for (String top : tops) {
        store.delete(top, true).get();
      }
    } finally {
      store.close();
    }
  }

  @Test
  void badArgumentsAreNamedAndChangeNothing() throws Exception {
    CrailStore store = open(true);
    try {
      TreeSet<String> before = names(lookup(store, "/").asDirectory());
      for (String path : new String[] {"/a/../b", "/" + "x".repeat(256), "/none/of/this"}) {
        ErrorCode code = codeOf(() -> create(store, path, CrailNodeType.DATAFILE));
        assertTrue(
            code == ErrorCode.INVALID_PATH || code == ErrorCode.PARENT_NOT_FOUND, path + code);
      }
      assertEquals(ErrorCode.NODE_NOT_FOUND, codeOf(() -> store.delete("/none", true).get()));
      assertEquals(ErrorCode.ROOT, codeOf(() -> store.delete("/", true).get()));
      assertEquals(before, names(lookup(store, "/").asDirectory()));
      assertFalse(before.contains("/none"));
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    } finally {
      store.close();
    }
  }
}
