/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.tool.Ran;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A load that grows to five times what there is: {@code crail scale} has a hook start datanodes,
 * and ends them when files are deleted, over the death of one controller. No operation fails, no
 * byte is lost, no process stays.
 */
@Tag("once")
class ScaleSystemTest {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final int MIB = 1 << 20;

  /** A datanode has 16 MiB for each of two namenodes, of which one has all files. */
  private static final int BASE_FILES = 10;

  private static final int FILES = 5 * BASE_FILES;
  private static final int WRITERS = 4;

  /** Starts real datanodes in the background, and keeps their numbers. */
  private static final String START =
      """
      for name in $CRAIL_SCALE_NAMES; do
        %s datanode -c $CRAIL_SCALE_CLASS -- -d %s -s 32m -p 0 >$LOGS/$name.log 2>&1 &
        echo $! >>$LOGS/pids
        echo "started $name"
      done
      """;

  private static final String STOP =
      """
      echo "$CRAIL_SCALE_ADDRESS $CRAIL_SCALE_UUID" >>$LOGS/stopped
      # It is drained, so its process has ended by itself, or does now.
      for i in $(seq 600); do
        grep -q "datanode $CRAIL_SCALE_UUID was removed and ends" $LOGS/scale-*.log && exit 0
        sleep 0.1
      done
      exit 1
      """;

  @TempDir private Path logs;

  private static byte[] bytes(int number) {
    byte[] bytes = new byte[MIB];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (number * 31 + i * 7 + (i >>> 8) * 13 + (i >>> 16));
    }
    return bytes;
  }

  /** As many as there were at first, but on all datanodes. */
  private static boolean isKept(int number) {
    return number % (FILES / BASE_FILES) == 0;
  }

  private static void write(CrailStore store, int number) throws Exception {
    try (CrailBufferedOutputStream out =
        DataFiles.create(store, "/load/f" + number).getBufferedOutputStream(MIB)) {
      out.write(bytes(number));
    }
  }

  private static void check(CrailStore store, int number) throws Exception {
    try (CrailBufferedInputStream in =
        store
            .lookup("/load/f" + number)
            .get(60, TimeUnit.SECONDS)
            .asFile()
            .getBufferedInputStream(MIB)) {
      assertTrue(Arrays.equals(bytes(number), in.readAllBytes()), "file " + number);
    }
  }

  private Path script(String name, String text) throws Exception {
    Path file = Files.writeString(logs.resolve(name), "export LOGS=" + logs + "\n" + text);
    return file;
  }

  /** A controller whose drains take a while. */
  private CrailProcess controller(ProcessCluster cluster, Path start, Path stop) throws Exception {
    return cluster.crail(
        "scale",
        "--least",
        "1",
        "--most",
        "8",
        "--period",
        "500ms",
        // Three times as long as a look at silent namenodes takes.
        "-Dcrail.rpctimeout=2s",
        "--lease",
        "8s",
        "--down-window",
        "4s",
        "--bandwidth",
        "2m",
        "--start-hook",
        "bash " + start,
        "--stop-hook",
        "bash " + stop);
  }

  private List<ProcessHandle> datanodes() throws Exception {
    List<ProcessHandle> running = new ArrayList<>();
    Path pids = logs.resolve("pids");
    for (String pid : Files.exists(pids) ? Files.readAllLines(pids) : List.<String>of()) {
      Optional<ProcessHandle> process = ProcessHandle.of(Long.parseLong(pid));
      process.filter(ProcessHandle::isAlive).ifPresent(running::add);
    }
    return running;
  }

  private static boolean isOnline(ProcessCluster cluster, String address) {
    String datanodes = Ran.run(cluster.directory(), "datanodes").stdout();
    return datanodes.lines().anyMatch(each -> each.matches(address + " +online .*"));
  }

  /** When datanodes have registered. */
  private static List<Instant> registered(CrailProcess controller) {
    return controller
        .stdout()
        .lines()
        .filter(line -> line.contains(" registered: "))
        .map(line -> Instant.parse(line.split(" ")[0]))
        .toList();
  }

  private List<String> stopped() throws Exception {
    Path stopped = logs.resolve("stopped");
    return Files.exists(stopped) ? Files.readAllLines(stopped) : List.of();
  }

  @Test
  void aPeakOfFiveTimesIsAbsorbedAndItsDatanodesEnd() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    // A drain waits for leases and signs of life, several times in this test, and minutes with the
    // usual times. ScalePeakTest has the usual times of the controller, in virtual time.
    settings.put("crail.blocksize", "256k");
    settings.put("crail.lease", "4s");
    settings.put("crail.namenode.freemargin", "200ms");
    settings.put("crail.storage.keepalive", "400ms");
    settings.put("crail.client.spacepatience", "60s");
    ExecutorService threads = Executors.newCachedThreadPool();
    List<CrailProcess> controllers = new ArrayList<>();
    try (ProcessCluster cluster = ProcessCluster.start(2, 0, settings)) {
      Path start =
          script(
              "start",
              START.formatted(CrailProcess.shellLine(cluster.directory()), cluster.dataPath()));
      Path stop = script("stop", STOP);
      CrailProcess first = controller(cluster, start, stop);
      controllers.add(first);
      first.await("leads: has the lease, token 1", PATIENCE);
      CrailProcess second = controller(cluster, start, stop);
      controllers.add(second);
      first.await("registered: ", PATIENCE);
      second.await("standby: another controller has the lease", PATIENCE);
      CrailStore store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
      try {
        store
            .create(
                "/load",
                CrailNodeType.DIRECTORY,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get(60, TimeUnit.SECONDS);
        for (int number = 0; number < BASE_FILES; number++) {
          write(store, number);
        }
        assertEquals(1, datanodes().size());

        // All at once: four times more than what there is.
        Instant begin = Instant.now();
        List<Future<?>> writers = new ArrayList<>();
        for (int writer = 0; writer < WRITERS; writer++) {
          int own = writer;
          writers.add(
              threads.submit(
                  () -> {
                    for (int i = BASE_FILES + own; i < FILES; i += WRITERS) {
                      write(store, i);
                    }
                    return null;
                  }));
        }
        for (Future<?> each : writers) {
          each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        for (int number = 0; number < FILES; number++) {
          check(store, number);
        }
        Instant ordered = Instant.parse(first.await("^(\\S+) add [^;]*above", PATIENCE).group(1));
        assertTrue(Duration.between(begin, ordered).toSeconds() < 10, first.stdout());
        // The first one was there before. On a busy machine a datanode needs more than five seconds
        // to start, so ScalePeakTest has the limit of ten seconds.
        Await.until("a second one registers", PATIENCE, () -> registered(first).size() > 1);
        Duration waited = Duration.between(begin, registered(first).get(1));
        System.out.println("new space after " + waited);
        assertTrue(waited.compareTo(PATIENCE) < 0, first.stdout());
        assertTrue(first.stdout().contains("100 % in use"), "it was full, so writers waited");
        int peak = datanodes().size();
        assertTrue(peak >= 4 && peak <= 8, () -> "datanodes: " + peak + first.stdout());
        assertEquals(0, stopped().size());

        // The others go on when this one is gone without a word, and the next one in a drain.
        first.kill();
        second.await("leads: has the lease, token 2", PATIENCE);
        for (int number = 0; number < FILES; number++) {
          if (!isKept(number)) {
            store.delete("/load/f" + number, false).get(60, TimeUnit.SECONDS);
          }
        }
        Matcher drain = second.await(" drain (\\S+): ", PATIENCE);
        String address = drain.group(1);
        Await.until("the drain has begun", PATIENCE, () -> !isOnline(cluster, address));
        second.kill();
        CrailProcess third = controller(cluster, start, stop);
        controllers.add(third);
        third.await(address + " (goes on with what was begun|was drained) before", PATIENCE);
        third.await("stopped: " + address, PATIENCE);
        // Two of four that there are at least: the rest is more than half full without another one.
        Await.until("one more has ended", PATIENCE, () -> stopped().size() >= 2);
        // Maybe in another drain.
        third.signal("TERM");
        third.awaitExit(PATIENCE);
        assertTrue(third.stdout().contains("ended: has given the lease back"), third.stdout());
        assertFalse(third.stdout().contains("failed"), third.stdout());
        assertFalse(third.stdout().contains("lost"), third.stdout());
        int started = Files.readAllLines(logs.resolve("pids")).size();
        Await.until("their processes end", PATIENCE, () -> datanodes().size() <= started - 2);
        for (int number = 0; number < FILES; number++) {
          if (isKept(number)) {
            check(store, number);
          }
        }
        assertEquals(0, cluster.run("fsck").awaitExit(PATIENCE));
      } finally {
        store.close();
      }
      for (ProcessHandle each : datanodes()) {
        each.destroy();
        each.onExit().get(60, TimeUnit.SECONDS);
      }
      assertEquals(List.of(), datanodes());
      controllers.forEach(each -> System.out.println(each.stdout()));
    } finally {
      threads.shutdownNow();
      for (CrailProcess each : controllers) {
        each.close();
      }
      for (ProcessHandle each : datanodes()) {
        each.destroyForcibly();
      }
    }
  }
}
