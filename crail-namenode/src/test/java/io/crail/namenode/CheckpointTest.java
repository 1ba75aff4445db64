/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.namenode.conf.NameNodeOptions;
import io.crail.namenode.log.ChangeLog;
import io.crail.namenode.log.ClosedSegments;
import io.crail.namenode.log.FileLogDirectory;
import io.crail.namenode.log.Snapshots;
import io.crail.protocol.part.NodeType;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots that another process makes of a log, while the namenode goes on. */
@Tag("once")
@Timeout(300)
class CheckpointTest {
  private static final long SEGMENT_BYTES = 64 << 10;
  private static final long PAUSE_MILLIS = 60_000;
  private static final int FILES = 200;
  private static final int SOME = 50;

  private final ManualClock clock = new ManualClock();
  private final Configuration conf = Configuration.defaults();
  private final NameNodeOptions options = NameNodeOptions.of(conf, 0, 1);
  @TempDir private Path directory;
  private NameNodeLog log;
  private TestStore store;
  private int files;

  private CheckpointProcess process() {
    return new CheckpointProcess(directory, conf, options, SEGMENT_BYTES);
  }

  private LogHome open(Checkpoints.Maker maker, Executor executor)
      throws CrailException, IOException {
    LogHome home =
        new LogHome(
            FileLogDirectory.open(directory),
            Runnable::run,
            Runnable::run,
            executor,
            () -> {},
            clock,
            SEGMENT_BYTES,
            1,
            ignored -> maker);
    log = NameNodeLog.open(home.directory(), home, options, clock, new Random(1), NameNode.ALONE);
    store = TestStore.of(log, clock);
    return home;
  }

  private void makeFiles(int count) throws CrailException {
    for (int i = 0; i < count; i++) {
      store.create(NodeType.DATAFILE, "/file" + files++, 0);
      // Nothing else waits for the disk.
      ((ChangeLog) log.log()).tick();
    }
  }

  private void requireFiles() throws CrailException {
    for (int i = 0; i < files; i++) {
      store.lookup("/file" + i);
    }
    store.namenode.verify();
  }

  private List<String> names(String ending) throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.map(each -> each.getFileName().toString())
          .filter(each -> each.endsWith(ending))
          .sorted()
          .toList();
    }
  }

  private void checkpoint() {
    clock.advanceMillis(PAUSE_MILLIS);
    log.checkpoints().tick(0);
  }

  @Test
  void theyTakeThePlaceOfClosedFiles() throws Exception {
    try (LogHome home = open(process(), Runnable::run)) {
      for (int round = 1; round <= 3; round++) {
        makeFiles(FILES);
        long segment = ((ChangeLog) log.log()).closed().segment();
        checkpoint();
        LogStanding standing = log.standing();
        assertEquals(round, standing.snapshots());
        assertEquals(clock.currentTimeMillis(), standing.snapshotMillis());
        assertTrue(standing.recordsBehind() < FILES, standing + "");
        assertEquals(1, names(".whole").size());
        // The one that is written, and the next.
        List<String> kept = names(".log").stream().filter(each -> !each.startsWith("s")).toList();
        assertEquals(
            List.of(
                String.format("%010d.log", segment + 1), String.format("%010d.log", segment + 2)),
            kept);
        // There is nothing that the next one could cover.
        checkpoint();
        assertEquals(round, log.standing().snapshots());
      }
    }
    try (LogHome home = open(process(), Runnable::run)) {
      requireFiles();
      long behind = log.standing().recordsBehind();
      checkpoint();
      assertTrue(log.standing().recordsBehind() < behind);
    }
    try (LogHome home = open(null, Runnable::run)) {
      requireFiles();
    }
  }

  @Test
  void aDamagedLogGoesOnAsItWas() throws Exception {
    try (LogHome home = open(process(), Runnable::run)) {
      makeFiles(FILES);
      damage("0000000002.log");
      checkpoint();
      LogStanding standing = log.standing();
      assertEquals(0, standing.snapshots());
      assertEquals(1, standing.failedSnapshots());
      assertEquals(List.of(), names(".whole"));
      assertTrue(names(".log").stream().noneMatch(each -> each.startsWith("s")));
      IOException refused =
          assertThrows(
              IOException.class,
              () -> process().make(((ChangeLog) log.log()).closed(), "snapshot-x", () -> false));
      assertTrue(refused.getMessage().contains("0000000002.log at byte"), refused.getMessage());
      damage("0000000002.log");
      makeFiles(FILES);
      checkpoint();
      assertEquals(1, log.standing().snapshots());
    }
    try (LogHome home = open(null, Runnable::run)) {
      requireFiles();
    }
  }

  /** Changes a byte, or changes it back. */
  private void damage(String name) throws IOException {
    try (FileChannel file =
        FileChannel.open(
            directory.resolve(name), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      file.read(one, 60);
      one.put(0, (byte) ~one.get(0)).rewind();
      file.write(one, 60);
    }
  }

  @Test
  void changesGoOnMeanwhile() throws Exception {
    int[] made = new int[1];
    boolean[] isMaking = new boolean[1];
    Checkpoints.Maker maker =
        (closed, name, isEnded) -> {
          set(isMaking, true);
          try {
            return process().make(closed, name, isEnded);
          } finally {
            set(isMaking, false);
          }
        };
    long longest = 0;
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (LogHome home = open(maker, executor)) {
      while (log.standing().snapshots() < 3) {
        long begin = System.nanoTime();
        makeFiles(1);
        longest = Math.max(longest, System.nanoTime() - begin);
        made[0] += get(isMaking) ? 1 : 0;
        if (files % FILES == 0) {
          checkpoint();
        }
      }
      log.checkpoints().close();
    } finally {
      executor.shutdown();
    }
    System.out.println(
        made[0] + " files while snapshots were made; the longest took " + longest / 1_000 + " us");
    assertTrue(made[0] > SOME, made[0] + " files");
    try (LogHome home = open(null, Runnable::run)) {
      requireFiles();
    }
  }

  private static void set(boolean[] flag, boolean value) {
    synchronized (flag) {
      flag[0] = value;
    }
  }

  private static boolean get(boolean[] flag) {
    synchronized (flag) {
      return flag[0];
    }
  }

  @Test
  void aNamenodeThatEndsEndsThem() throws Exception {
    try (LogHome home = open(null, Runnable::run)) {
      makeFiles(FILES);
      assertThrows(
          CancellationException.class,
          () -> process().make(((ChangeLog) log.log()).closed(), "snapshot-x", () -> true));
      assertFalse(ProcessHandle.current().children().anyMatch(ProcessHandle::isAlive));
    }
  }

  @Test
  void theProcessEndsWithWhoHasStartedIt() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            CheckpointMain.class.getName());
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    Process process = builder.redirectErrorStream(true).start();
    try (DataOutputStream orders = new DataOutputStream(process.getOutputStream())) {
      new CheckpointMain.Order(
              directory.toString(),
              new ClosedSegments(1, 1, 1),
              Snapshots.name(new ClosedSegments(1, 1, 1), 1),
              SEGMENT_BYTES,
              0,
              1,
              Map.of())
          .write(orders);
    }
    assertTrue(process.waitFor(100, TimeUnit.SECONDS));
    assertEquals(1, process.exitValue());
    assertEquals(List.of(), names(""));
  }
}
