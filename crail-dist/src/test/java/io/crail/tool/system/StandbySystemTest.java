/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.testkit.nemesis.FrozenDisk;
import io.crail.testkit.nemesis.NetworkNamespaces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does harm to the peer of a namenode that serves, again and again, while clients change and look
 * up a few names. All their answers must be linearizable, also those of a peer that does not know
 * that another one serves. As root, each peer has a network and a disk of its own, and these fail
 * too.
 */
@Timeout(7200)
@Tag("once")
class StandbySystemTest {
  private static final int PEERS = 3;
  private static final int ROUNDS = Integer.getInteger("crail.test.rounds", 1);

  /** Some of the faults, separated by commas; all if it is empty. */
  private static final String FAULTS = System.getProperty("crail.test.faults", "");

  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int STEPS = 200;

  /** After that, TCP would try again only when it has been away for twice as long. */
  private static final int LONG_SECONDS = 23;

  /** What a busy machine takes to go on with a peer that was cut off for long. */
  private static final long MOST_MILLIS = 17_000;

  private static final long DISK_BYTES = 2L << 30;

  private final long seed = Long.getLong("crail.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<Fault, List<Long>> pauses = new EnumMap<>(Fault.class);
  private final List<FrozenDisk> disks = new ArrayList<>();
  @TempDir private Path directory;
  private NetworkNamespaces networks;
  private ProcessCluster cluster;
  private CrailProcess load;
  private Path commands;
  private Path logs;

  /** What happens to the peer that serves. */
  private enum Fault {
    /** It is killed, and starts again. */
    KILL,
    /** It is killed, has lost its directories when it starts again, and joins anew. */
    LOSE,
    /** It is stopped until another one serves. */
    STOP,
    /** The same, while nothing is under way. */
    STOP_AT_REST,
    /** It is stopped for as long as a long collection of garbage takes. */
    PAUSE,
    /** Nothing reaches it. */
    CUT,
    /** The same for a long time, and then at once to the peer that does not serve instead. */
    LONG_CUT,
    /** The other peers hear nothing of it. */
    MUTE,
    /** It hears nothing of the other peers. */
    DEAF,
    /** Its disk takes no writes for four seconds; then it goes on. */
    STALL,
    /** Its disk takes no writes until another one serves. */
    LONG_STALL
  }

  @BeforeEach
  void start() throws Exception {
    System.out.println("-Dcrail.seed=" + seed);
    String lacking = NetworkNamespaces.unavailable();
    if (lacking.isEmpty()) {
      networks = NetworkNamespaces.create(PEERS);
    } else {
      System.out.println("without networks of their own: " + lacking);
    }
    logs = Files.createDirectory(directory.resolve("logs"));
    lacking = FrozenDisk.unavailable();
    for (int i = 0; i < PEERS && lacking.isEmpty(); i++) {
      Path place = ProcessCluster.logOf(logs, PEERS, i).getParent();
      disks.add(FrozenDisk.mount(directory.resolve("disk-" + i), place, DISK_BYTES));
    }
    if (disks.isEmpty()) {
      System.out.println("without disks of their own: " + lacking);
    }
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.namenode.durability", "sync");
    settings.put("crail.namenode.datapath", logs.toString());
    ProcessCluster.Places places =
        networks == null
            ? ProcessCluster.Places.on("127.0.0.1")
            : new ProcessCluster.Places(
                networks::address, (role, index) -> networks.in(index), null);
    cluster = ProcessCluster.start(places, 1, PEERS, 0, settings);
    commands = Files.createDirectory(directory.resolve("commands"));
    load =
        CrailProcess.program(
            networks == null ? List.of() : networks.inHub(),
            StandbyLoad.class,
            cluster.directory().toString(),
            commands.toString(),
            Long.toString(seed));
  }

  @AfterEach
  void stop() throws Exception {
    List<AutoCloseable> all = new ArrayList<>();
    if (load != null) {
      all.add(load::kill);
    }
    if (cluster != null) {
      all.add(cluster);
    }
    all.addAll(disks);
    if (networks != null) {
      all.add(networks);
    }
    Exception failure = null;
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (Exception e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * How the load is.
   *
   * @param done steps that were answered
   * @param served answers of each peer
   * @param pauseMillis the longest time without an answer in this round
   */
  private record Status(int done, int[] served, long pauseMillis) {}

  private Status status() throws Exception {
    Path file = commands.resolve("status");
    Await.until(
        "the load begins\n" + load.stderr(), PATIENCE, () -> Files.exists(file) || !load.isAlive());
    assertTrue(load.isAlive(), load.stdout() + load.stderr());
    String[] parts = Files.readString(file).split(";", -1);
    assertEquals("", parts[3], load.stderr());
    int[] served = Arrays.stream(parts[1].split(",")).mapToInt(Integer::parseInt).toArray();
    return new Status(Integer.parseInt(parts[0]), served, Long.parseLong(parts[2]));
  }

  private void command(String command) throws Exception {
    Path file = Files.createFile(commands.resolve(command));
    Await.until(
        command + "\n" + load.stdout() + load.stderr(),
        PATIENCE,
        () -> !Files.exists(file) || !load.isAlive());
  }

  private void awaitSteps(String when) throws Exception {
    int from = status().done;
    Await.until("steps " + when, PATIENCE, () -> status().done >= from + STEPS);
  }

  /** The peer that answers. */
  private int leader() throws Exception {
    int[] before = status().served;
    int[] found = new int[1];
    Await.until(
        "a peer that serves",
        PATIENCE,
        () -> {
          int[] now = status().served;
          for (int i = 0; i < PEERS; i++) {
            if (now[i] > before[i]) {
              found[0] = i;
              return true;
            }
          }
          return false;
        });
    return found[0];
  }

  /** Waits until the other peers have all that one has. */
  private void awaitStandbys() throws Exception {
    Await.until(
        "all peers are up to date",
        PATIENCE,
        () -> {
          CrailProcess asked = leaderCommand();
          int code = asked.awaitExit(PATIENCE);
          String said = asked.stdout();
          return code == 0 && said.lines().filter(line -> line.contains("up to date")).count() >= 2;
        });
  }

  private CrailProcess leaderCommand() throws Exception {
    return CrailProcess.crail(
        networks == null ? List.of() : networks.inHub(), cluster.directory(), "leader");
  }

  private void happens(Fault fault) throws Exception {
    int leader = leader();
    // So that there is a connection.
    command("ask-" + leader);
    CrailProcess process = cluster.namenode(leader);
    switch (fault) {
      case KILL, LOSE -> {
        process.kill();
        awaitSteps("after a kill");
        if (fault == Fault.LOSE) {
          removeFiles(ProcessCluster.logOf(logs, PEERS, leader).getParent());
        }
        cluster.startNamenodeAgain(leader);
        cluster.awaitNamenode(leader);
      }
      case STOP, STOP_AT_REST -> {
        if (fault == Fault.STOP_AT_REST) {
          command("quiet");
        }
        process.signal("STOP");
        if (fault == Fault.STOP_AT_REST) {
          command("busy");
        }
        awaitSteps("beside a peer that is stopped");
        // These come after what another peer has changed, and wait in the socket of this one.
        command("ask-" + leader);
        process.signal("CONT");
      }
      case PAUSE -> {
        process.signal("STOP");
        TimeUnit.MILLISECONDS.sleep(50 + random.nextInt(1_500));
        process.signal("CONT");
      }
      case CUT -> {
        networks.cut(leader);
        awaitSteps("beside a peer that is cut off");
        command("ask-" + leader);
        networks.heal(leader);
      }
      case LONG_CUT -> {
        networks.cut(leader);
        awaitSteps("beside a peer that is cut off");
        TimeUnit.SECONDS.sleep(LONG_SECONDS);
        int standby = PEERS - leader - leader();
        networks.heal(leader);
        // Now it is needed for a majority.
        networks.cut(standby);
        awaitSteps("with a peer that was cut off for long");
        networks.heal(standby);
      }
      case MUTE, DEAF -> {
        for (int other = 0; other < PEERS; other++) {
          if (other != leader) {
            networks.mute(
                fault == Fault.MUTE ? leader : other, fault == Fault.MUTE ? other : leader);
          }
        }
        awaitSteps("beside a peer that is " + fault);
        command("ask-" + leader);
        for (int other = 0; other < PEERS; other++) {
          if (other != leader) {
            networks.unmute(
                fault == Fault.MUTE ? leader : other, fault == Fault.MUTE ? other : leader);
          }
        }
      }
      case STALL, LONG_STALL -> {
        disks.get(leader).freeze();
        try {
          if (fault == Fault.STALL) {
            TimeUnit.SECONDS.sleep(4);
          } else {
            awaitSteps("beside a peer whose disk stands still");
          }
        } finally {
          disks.get(leader).thaw();
        }
      }
      default -> throw new AssertionError(fault);
    }
    awaitSteps("after " + fault);
    int after = leader();
    System.out.printf("%s of peer %d: peer %d serves%n", fault, leader, after);
    // On a machine that is busy with something else, others may be elected at any time.
    if (fault == Fault.STALL && ROUNDS > 1) {
      assertEquals(leader, after, "a disk that stands still for a moment deposes its peer");
    }
  }

  private static void removeFiles(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!each.equals(place)) {
          Files.delete(each);
        }
      }
    }
  }

  private boolean canHappen(Fault fault) {
    if (!FAULTS.isEmpty() && !List.of(FAULTS.split(",")).contains(fault.name())) {
      return false;
    }
    return switch (fault) {
      case CUT, LONG_CUT, MUTE, DEAF -> networks != null;
      case STALL, LONG_STALL -> !disks.isEmpty();
      default -> true;
    };
  }

  @Test
  void answersAreLinearizableWhateverHappensToThePeerThatServes() throws Exception {
    List<Fault> faults = new ArrayList<>();
    for (Fault each : Fault.values()) {
      if (canHappen(each)) {
        faults.addAll(Collections.nCopies(ROUNDS, each));
        pauses.put(each, new ArrayList<>());
      }
    }
    Collections.shuffle(faults, random);
    awaitSteps("at first");
    for (Fault each : faults) {
      awaitStandbys();
      command("round");
      happens(each);
      long pauseMillis = status().pauseMillis;
      pauses.get(each).add(pauseMillis);
      // On a machine that is busy with something else, everything takes longer.
      if (each == Fault.LONG_CUT && ROUNDS > 1) {
        assertTrue(pauseMillis < MOST_MILLIS, "nothing was served for " + pauseMillis + " ms");
      }
    }
    awaitStandbys();
    command("end");
    assertEquals(0, load.awaitExit(PATIENCE), load.stderr());
    System.out.print(load.stdout());
    pauses.values().forEach(Collections::sort);
    System.out.println("longest times without an answer, in milliseconds: " + pauses);
    assertTrue(load.stdout().contains(" 0 violations,"), load.stdout());
  }
}
