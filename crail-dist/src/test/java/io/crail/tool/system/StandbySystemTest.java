/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.NameNodeClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Lead;
import io.crail.protocol.node.Lookup;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.Transport;
import io.crail.rpc.TransportProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills and stops the peer of a namenode that serves, again and again. One client makes directories
 * all the time. Other clients, each of which knows one peer only, look up the last one that was
 * made: a peer that has been stopped, and does not know that another one leads, must not answer.
 */
@Timeout(1200)
@Tag("once")
class StandbySystemTest {
  private static final int PEERS = 3;
  private static final int ROUNDS = Integer.getInteger("crail.test.rounds", 2);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long PATIENCE_NANOS = PATIENCE.toNanos();
  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final Random random = new Random(Long.getLong("crail.seed", System.nanoTime()));
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final AtomicInteger made = new AtomicInteger();
  private final AtomicLong longestPauseNanos = new AtomicLong();
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final List<String> stale = Collections.synchronizedList(new ArrayList<>());
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicInteger[] served = new AtomicInteger[PEERS];
  @TempDir private Path logs;
  private ProcessCluster cluster;
  private Transport transport;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.namenode.durability", "sync");
    settings.put("crail.namenode.datapath", logs.toString());
    cluster = ProcessCluster.start(ProcessCluster.Places.on("127.0.0.1"), 1, PEERS, 0, settings);
    transport = TransportProvider.open(cluster.configuration());
    store = CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
    for (int i = 0; i < PEERS; i++) {
      served[i] = new AtomicInteger();
    }
  }

  @AfterEach
  void stop() throws Exception {
    isOver.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    store.close();
    transport.close();
    cluster.close();
  }

  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  private void inBackground(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Throwable e) {
                failures.add(e);
              }
            });
    thread.start();
    threads.add(thread);
  }

  /** Makes one directory after the other. */
  private void make() throws Exception {
    long last = System.nanoTime();
    while (!isOver.get()) {
      int next = made.get() + 1;
      store
          .create(
              "/" + next,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              false)
          .get();
      made.set(next);
      long now = System.nanoTime();
      longestPauseNanos.accumulateAndGet(now - last, Math::max);
      last = now;
    }
  }

  /** Asks one peer for what was made last. */
  private void probe(int peer) throws Exception {
    ClientLoop loop = transport.newClientLoop("probe-" + peer);
    NameNodeClient only =
        new NameNodeClient(
            loop,
            List.of(cluster.namenodeAddress(peer)),
            NameNodeClient.Identity.ofClient("crail"),
            transport.peerOptions(),
            PROBE_NANOS);
    try {
      while (!isOver.get()) {
        int expected = made.get();
        Lookup.Request request = new Lookup.Request(Utf8.of("/" + expected));
        if (expected == 0) {
          continue;
        }
        try {
          only.callAt(0, NameNodeOperations.LOOKUP, request).join();
          served[peer].incrementAndGet();
        } catch (CrailException e) {
          if (e.code() == ErrorCode.NODE_NOT_FOUND) {
            stale.add("peer " + peer + " does not know " + expected);
          }
          // Otherwise it does not serve now.
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
    } finally {
      only.close();
      loop.close();
    }
  }

  /** The peer that answers. */
  private int leader() throws InterruptedException {
    long begun = System.nanoTime();
    int[] before = new int[PEERS];
    for (int i = 0; i < PEERS; i++) {
      before[i] = served[i].get();
    }
    while (System.nanoTime() - begun < PATIENCE_NANOS && failures.isEmpty()) {
      for (int i = 0; i < PEERS; i++) {
        if (served[i].get() > before[i]) {
          return i;
        }
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
    throw new AssertionError("no peer serves; " + failures);
  }

  private void awaitProgress(int more) throws InterruptedException {
    int from = made.get();
    long begun = System.nanoTime();
    while (made.get() < from + more) {
      assertTrue(
          System.nanoTime() - begun < PATIENCE_NANOS && failures.isEmpty(),
          "nothing is made; " + failures);
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  private void begin() {
    inBackground(this::make);
    for (int i = 0; i < PEERS; i++) {
      int peer = i;
      inBackground(() -> probe(peer));
    }
  }

  private void end(List<Long> pauses) {
    Collections.sort(pauses);
    System.out.printf("%d directories; milliseconds without service: %s%n", made.get(), pauses);
    assertEquals(List.of(), failures);
    assertEquals(List.of(), stale);
  }

  @Test
  void killedPeersAreReplaced() throws Exception {
    begin();
    List<Long> pauses = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      awaitProgress(20);
      int leader = leader();
      longestPauseNanos.set(0);
      cluster.namenode(leader).kill();
      awaitProgress(20);
      pauses.add(longestPauseNanos.get() / 1_000_000);
      cluster.startNamenodeAgain(leader);
      cluster.awaitNamenode(leader);
    }
    end(pauses);
  }

  private Lead.Response report() throws Exception {
    return ((CoreStore) store)
        .connections()
        .namenodes()
        .callAt(0, NameNodeOperations.LEAD, new Lead.Request(Lead.NONE))
        .join();
  }

  private static void remove(Path lost) throws IOException {
    try (Stream<Path> files = Files.walk(lost)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  /** It joins while the others serve. After that they can do without each other. */
  @Test
  void aPeerThatHasLostItsDirectoriesJoinsAnew() throws Exception {
    begin();
    awaitProgress(20);
    int leader = leader();
    int lost = (leader + 1) % PEERS;
    cluster.namenode(lost).kill();
    remove(ProcessCluster.logOf(logs, PEERS, lost).getParent());
    cluster.startNamenodeAgain(lost);
    Await.until("it joins", PATIENCE, () -> report().joining() == 1 << lost);
    Await.until("it has joined", PATIENCE, () -> report().joining() == 0);
    List<Long> pauses = new ArrayList<>();
    for (int other : new int[] {leader, PEERS - leader - lost}) {
      longestPauseNanos.set(0);
      cluster.namenode(other).kill();
      awaitProgress(20);
      pauses.add(longestPauseNanos.get() / 1_000_000);
      cluster.startNamenodeAgain(other);
      cluster.awaitNamenode(other);
    }
    end(pauses);
  }

  /** It answers nothing that is old, although its connections are still open. */
  @Test
  void aPeerThatWasStoppedAnswersNothingOld() throws Exception {
    begin();
    List<Long> pauses = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      awaitProgress(20);
      int leader = leader();
      longestPauseNanos.set(0);
      CrailProcess stopped = cluster.namenode(leader);
      stopped.signal("STOP");
      awaitProgress(20);
      pauses.add(longestPauseNanos.get() / 1_000_000);
      TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
      stopped.signal("CONT");
      awaitProgress(20);
    }
    end(pauses);
  }
}
