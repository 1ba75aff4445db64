/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.model.Units;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests writers that are stopped in the middle of large pieces for longer than lease and margin,
 * while another client deletes their files and fills the store. When they continue, no byte that
 * was acknowledged in the meantime may change. {@code -Dcrail.test.rounds=} sets the number of
 * rounds.
 */
@Tag("once")
class StoppedWriterSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int MIB = 1 << 20;
  private static final int THREADS = 4;
  private static final int PIECES = 12;

  /** Hardly more than the writers take, so that what they had is given out again. */
  private static final String SPACE = "60m";

  private static final Pattern THREAD = Pattern.compile("writer-([0-9]+)");

  /** Three times what lease and margin take together. */
  private static final Duration LONGEST_REST = Duration.ofSeconds(8);

  /** Each thread's piece is in two blocks at the most. */
  private static final long MOST_PINNED = 2L * THREADS * MIB;

  /** First large files, then small ones for the space that is left. */
  private static final int[] FILL = {4 * MIB, 256 << 10, 4 << 10};

  /** At last there may be only space that a stopped writer still pins. */
  private static final Set<ErrorCode> NO_ROOM = Set.of(ErrorCode.NO_SPACE, ErrorCode.SPACE_PINNED);

  /** The writer of these tests; the stopped ones have larger numbers. */
  private static final int HONEST = 1;

  /** Within some files of all threads, whatever the machine. */
  private static final int LONGEST_RUN_MILLIS = 30;

  /** Threads that have to be in the middle of a piece when all of them are stopped. */
  private static final int IN_A_PIECE = 2;

  private static final int ROUNDS =
      Integer.getInteger("crail.test.rounds", Boolean.getBoolean("crail.test.long") ? 20 : 2);

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<Long> files = new ArrayList<>();
  private long counter;

  StoppedWriterSystemTest() {
    System.out.println("-Dcrail.seed=" + seed + " -Dcrail.test.rounds=" + ROUNDS);
  }

  /** Short times in the order that they need: a datanode waits for data less than space rests. */
  private static Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.lease", "2s");
    settings.put("crail.namenode.freemargin", "600ms");
    settings.put("crail.storage.tcp.writetimeout", "500ms");
    return settings;
  }

  @ParameterizedTest(name = "mapped: {0}")
  @ValueSource(booleans = {true, false})
  void changesNoByteOfOthersWhenItGoesOn(boolean mapped) throws Exception {
    List<String> wrong = new ArrayList<>();
    int hit = 0;
    try (ProcessCluster cluster = ProcessCluster.start(1, 0, settings())) {
      cluster.startDatanode(SPACE, -1);
      try (CrailStore store = open(cluster, mapped);
          CrailStore network = open(cluster, false)) {
        // Once, for memory that is used for the first time is written in another way.
        fill(store);
        empty(store);
        for (int round = 0; round < ROUNDS; round++) {
          List<String> found = round(cluster, store, network, mapped, round);
          hit += found.isEmpty() ? 0 : 1;
          found.forEach(System.out::println);
          wrong.addAll(found);
        }
      }
    }
    System.out.println(
        "stopped writers, mapped " + mapped + ": wrong bytes in " + hit + " of " + ROUNDS);
    assertEquals(List.of(), wrong, "-Dcrail.seed=" + seed);
  }

  private List<String> round(
      ProcessCluster cluster, CrailStore store, CrailStore network, boolean mapped, int round)
      throws Exception {
    create(store, "/w", CrailNodeType.DIRECTORY);
    Path state = cluster.directory().resolve("state-" + mapped + "-" + round);
    try (CrailProcess writer =
        CrailProcess.program(
            StoppedWriterProgram.class,
            cluster.directory().resolve("crail-site.conf").toString(),
            String.valueOf(mapped),
            "/w",
            String.valueOf(THREADS),
            String.valueOf(MIB),
            String.valueOf(PIECES),
            String.valueOf(HONEST + 1 + round),
            state.toString())) {
      writer.await("^writing$", PATIENCE);
      stopInTheMiddle(writer, state, mapped);
      List<String> wrong;
      try {
        store.delete("/w", true).get(60, TimeUnit.SECONDS);
        awaitAllButPinned(store);
        fill(store);
        assertEquals(List.of(), check(store, "before it goes on"));
        assertEquals(List.of(), check(network, "before it goes on"));
      } finally {
        writer.signal("CONT");
      }
      for (int thread = 0; thread < THREADS; thread++) {
        writer.await("^thread " + thread + " ended", PATIENCE);
      }
      assertEquals(0, writer.awaitExit(PATIENCE));
      wrong = check(store, "round " + round + ", mapped " + mapped);
      wrong.addAll(check(network, "round " + round + ", over the network"));
      empty(store);
      return wrong;
    }
  }

  /** Stops it, again and again, until some of its threads are in a piece then. */
  private void stopInTheMiddle(CrailProcess writer, Path state, boolean mapped) throws Exception {
    Await.until(
        "threads are stopped in the middle of a piece",
        PATIENCE,
        () -> {
          // It repeats this until it is killed, so any moment will do.
          TimeUnit.MICROSECONDS.sleep(random.nextInt(LONGEST_RUN_MILLIS * 1000));
          writer.signal("STOP");
          int inPiece = inPiece(writer, Files.readAllBytes(state), mapped);
          if (inPiece < IN_A_PIECE) {
            writer.signal("CONT");
          }
          return inPiece >= IN_A_PIECE;
        });
  }

  /** Threads of a stopped writer that write a piece, and copy it themselves where it is mapped. */
  private static int inPiece(CrailProcess writer, byte[] state, boolean mapped) throws IOException {
    int count = 0;
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + writer.pid() + "/task"))) {
      for (Path thread : threads.toList()) {
        Matcher name = THREAD.matcher(Files.readString(thread.resolve("comm")).strip());
        if (name.matches() && state[Integer.parseInt(name.group(1))] == 1) {
          // -1: in no system call, so it waits for nothing.
          boolean copies = Files.readString(thread.resolve("syscall")).startsWith("-1");
          count += copies || !mapped ? 1 : 0;
        }
      }
    }
    return count;
  }

  private static CrailStore open(ProcessCluster cluster, boolean mapped) throws Exception {
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

  private static void awaitEmpty(CrailStore store) throws Exception {
    Await.until(
        "nothing is used and nothing waits",
        PATIENCE,
        () -> {
          CrailSpace space = store.getSpace();
          return space.freeBytes() == space.capacityBytes();
        });
  }

  /** Waits until space comes back no more: a stopped writer may keep what it writes to. */
  private static void awaitAllButPinned(CrailStore store) throws Exception {
    long begin = System.nanoTime();
    Await.until(
        "nothing waits but what the stopped writer was writing to",
        PATIENCE,
        () -> {
          CrailSpace space = store.getSpace();
          long pinned = space.capacityBytes() - space.freeBytes();
          boolean allRests = System.nanoTime() - begin > LONGEST_REST.toNanos();
          return pinned == 0 || (allRests && pinned <= MOST_PINNED);
        });
  }

  /** Writes acknowledged and closed files until there is no space. */
  private void fill(CrailStore store) throws Exception {
    create(store, "/f", CrailNodeType.DIRECTORY);
    for (int length : FILL) {
      ByteBuffer bytes = ByteBuffer.allocateDirect(length);
      boolean room = true;
      while (room) {
        long id = Units.id(HONEST, ++counter);
        Units.fill(bytes, id, id, 0);
        room = write(create(store, "/f/" + id, CrailNodeType.DATAFILE).asFile(), bytes);
        if (room) {
          files.add(id);
        } else {
          store.delete("/f/" + id, false).get(60, TimeUnit.SECONDS);
        }
      }
    }
  }

  private static boolean write(CrailFile file, ByteBuffer bytes) throws Exception {
    try {
      CrailOutputStream out = file.getDirectOutputStream(bytes.capacity());
      try {
        out.write(OffHeapBuffer.wrap(bytes.duplicate())).get(60, TimeUnit.SECONDS);
      } finally {
        out.close();
      }
      return true;
    } catch (CrailException e) {
      assertTrue(NO_ROOM.contains(e.code()), e.toString());
      return false;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof CrailException cause && NO_ROOM.contains(cause.code())) {
        return false;
      }
      throw e;
    }
  }

  private List<String> check(CrailStore store, String when) throws Exception {
    List<String> wrong = new ArrayList<>();
    for (long id : files) {
      CrailFile file = store.lookup("/f/" + id).get(60, TimeUnit.SECONDS).asFile();
      byte[] bytes = new byte[(int) file.getCapacity()];
      try (CrailBufferedInputStream in = file.getBufferedInputStream(bytes.length)) {
        assertEquals(bytes.length, in.readNBytes(bytes, 0, bytes.length));
      }
      ByteBuffer read = ByteBuffer.wrap(bytes);
      int at = Units.mismatch(read, 0, bytes.length, id, id, 0);
      if (at >= 0) {
        wrong.add(
            String.format(
                "%s: file %s of %d bytes has %d wrong ones, the first at %d: %s",
                when,
                Units.text(id),
                bytes.length,
                Units.countMismatches(read, 0, bytes.length, id, id, 0),
                at,
                Units.describe(read, at)));
      }
    }
    return wrong;
  }

  private void empty(CrailStore store) throws Exception {
    store.delete("/f", true).get(60, TimeUnit.SECONDS);
    files.clear();
    awaitEmpty(store);
  }
}
