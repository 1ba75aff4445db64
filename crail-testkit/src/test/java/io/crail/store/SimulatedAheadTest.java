/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailNode;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.part.ClassUsage;
import io.crail.testkit.sim.SimulatedDatanode;
import io.crail.testkit.sim.SimulatedDisk;
import io.crail.testkit.sim.SimulatedNamenode;
import io.crail.testkit.sim.SimulatedNetwork;
import io.crail.testkit.sim.SimulatedTier;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A namenode whose answers do not wait for its log, on a disk that is slow now and then, and that
 * loses what it has not confirmed when the power goes. One client does one thing after the other:
 * what is left after a crash is what there was at one moment, not long before. Another client has
 * streams open all the time, and does not notice the crash before its next request. There is so
 * little space that what one of them gives back is the other one's soon. In virtual time.
 */
@Tag("once")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class SimulatedAheadTest {
  private static final int SEEDS =
      Integer.getInteger(
          "crail.simulation.seeds", Boolean.getBoolean("crail.test.long") ? 1000 : 24);
  private static final int CRASHES = 6;
  private static final int MOST_STEPS = 40;
  private static final int FILES = 8;
  private static final int BLOCK = 64 << 10;
  private static final int REGIONS = 2;
  private static final int MOST_BYTES = 3 * BLOCK;
  private static final int MOST_PIECE = 10_000;
  private static final Duration LEASE = Duration.ofSeconds(1);
  private static final Duration MARGIN = Duration.ofMillis(500);

  /** What a request may end with, besides success. */
  private static final Set<ErrorCode> EXPECTED =
      EnumSet.of(
          ErrorCode.UNAVAILABLE,
          ErrorCode.NO_SPACE,
          ErrorCode.SPACE_TO_COME,
          ErrorCode.WRITE_LEASE_LOST,
          ErrorCode.WRITE_LEASE_HELD,
          ErrorCode.STALE_NODE,
          ErrorCode.STALE_EXTENT,
          ErrorCode.NODE_NOT_FOUND,
          ErrorCode.TIMED_OUT);

  private final Map<String, Integer> counts = new TreeMap<>();

  @Test
  void aCrashLosesTheLastChangesOnly() throws Exception {
    Long one = Long.getLong("crail.seed");
    long first = one == null ? System.nanoTime() : one;
    for (long seed = first; seed < first + (one == null ? SEEDS : 1); seed++) {
      try (Run run = new Run(seed)) {
        try {
          run.perform();
        } catch (Exception | AssertionError e) {
          throw new AssertionError(
              "-Dcrail.seed=" + seed + " " + e.getMessage() + "\n" + String.join("\n", run.trail),
              e);
        }
      }
    }
    System.out.println(first + ": " + counts);
    if (one == null) {
      for (String each :
          List.of(
              "lost some",
              "lost nothing",
              "WRITE_LEASE_LOST",
              "kept while open",
              "refused",
              "restarted with its bytes")) {
        assertTrue(counts.containsKey(each), each + " has not occurred: " + counts);
      }
    }
  }

  private void count(String what) {
    counts.merge(what, 1, Integer::sum);
  }

  /** What there is after something was done. */
  private record Moment(long begun, long ended, String changed, Map<String, byte[]> files) {}

  /** A stream of the client that does not notice anything. */
  private static final class Open {
    private final String path;
    private final CrailOutputStream stream;
    private final List<Future<CrailResult>> writes = new ArrayList<>();
    private byte[] issued = new byte[0];
    private boolean isOld;

    Open(String path, CrailOutputStream stream) {
      this.path = path;
      this.stream = stream;
    }
  }

  private final class Run implements AutoCloseable {
    private final SimulatedNetwork network;
    private final Random random;
    private final long delayNanos;
    private final Configuration configuration;

    /** Whether datanodes end too, and keep their bytes. */
    private final boolean keeps;

    private final SimulatedTier tier;
    private final SimulatedNamenode namenode;
    private final List<SimulatedDatanode> datanodes = new ArrayList<>();
    private final CrailStore store;
    private final CrailStore other;
    private final Queue<String> trail = new ArrayDeque<>();
    private final List<Moment> moments = new ArrayList<>();
    private final List<Open> open = new ArrayList<>();

    /** All that was ever written to the files of the other client. */
    private final Map<String, byte[]> written = new TreeMap<>();

    /** Those of them that may be there, and what must be there. */
    private final Set<String> known = new TreeSet<>();

    private final Map<String, byte[]> acknowledged = new HashMap<>();
    private int made;

    Run(long seed) throws Exception {
      network = new SimulatedNetwork(seed);
      network.driveIdleLoops(true);
      random = network.random();
      int delayMillis = 10 + random.nextInt(400);
      delayNanos = delayMillis * 1_000_000L;
      configuration =
          Configuration.builder()
              .set("crail.namenode.address", "crail://namenode0:9060", "test")
              .set("crail.client.host", "client", "test")
              .set("crail.client.loops", "1", "test")
              .set("crail.blocksize", Integer.toString(BLOCK), "test")
              .set("crail.buffersize", "16k", "test")
              .set("crail.slicesize", "8k", "test")
              .set("crail.cachelimit", "1m", "test")
              .set("crail.rpctimeout", "4s", "test")
              .set("crail.datatimeout", "3s", "test")
              .set("crail.client.spacepatience", "3s", "test")
              .set("crail.storage.keepalive", "250ms", "test")
              .set("crail.lease", LEASE.toMillis() + "ms", "test")
              .set("crail.namenode.freemargin", MARGIN.toMillis() + "ms", "test")
              .set("crail.namenode.smallvalue", "0", "test")
              .set("crail.namenode.durability", "async", "test")
              .set("crail.namenode.logdelay", delayMillis + "ms", "test")
              .build();
      InetSocketAddress address = InetSocketAddress.createUnresolved("namenode0", 9060);
      SimulatedDisk disk = new SimulatedDisk(random);
      namenode = new SimulatedNamenode(network, configuration, 0, 1, address, disk);
      tier = new SimulatedTier("tier", random, network, REGIONS, 4 * BLOCK);
      tier.oneSided(random.nextBoolean());
      tier.lateWrites(true);
      keeps = random.nextBoolean();
      tier.latency(Duration.ofNanos(10_000), Duration.ofMillis(2));
      for (int i = 0; i < 2; i++) {
        datanodes.add(
            new SimulatedDatanode(
                network,
                configuration,
                tier,
                0,
                InetSocketAddress.createUnresolved("datanode" + i, 50_020),
                keeps));
      }
      store = newStore("client");
      other = newStore("other");
      moments.add(new Moment(0, 0, "", Map.of()));
    }

    private CrailStore newStore(String host) {
      return CoreStore.open(
          configuration, network.transport(host), network.clock(), name -> tier, random);
    }

    private long now() {
      return network.clock().nanoTime();
    }

    private void note(String what) {
      if (trail.size() == 80) {
        trail.remove();
      }
      trail.add(now() / 1000 + " us: " + what);
    }

    void perform() throws Exception {
      awaitDatanodes();
      for (int crash = 0; crash < CRASHES; crash++) {
        int steps = 1 + random.nextInt(MOST_STEPS);
        for (int step = 0; step < steps; step++) {
          pass(random.nextInt(random.nextInt(8) == 0 ? 300 : 8));
          disturb();
          act();
          if (random.nextInt(6) == 0) {
            namenode.server().verify();
          }
        }
        // Nothing was lost so far.
        assertFiles(last().files, observe());
        crash();
      }
      finish();
    }

    private void pass(int millis) {
      network.runFor(Duration.ofMillis(millis));
      network.bury();
    }

    private void awaitDatanodes() {
      for (int i = 0; i < 400 && !datanodes.stream().allMatch(each -> each.isRegistered()); i++) {
        pass(50);
      }
      assertTrue(datanodes.stream().allMatch(SimulatedDatanode::isRegistered), "registered");
    }

    private Moment last() {
      return moments.get(moments.size() - 1);
    }

    private ErrorCode code(Throwable failure) {
      for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
        if (cause instanceof CrailException crail) {
          assertTrue(EXPECTED.contains(crail.code()), () -> failure.toString());
          note(crail.code() + " " + crail.detail());
          count(crail.code().toString());
          if (crail.getMessage().contains("too slow")) {
            count("refused");
          }
          return crail.code();
        }
      }
      throw new AssertionError("without a type: " + failure, failure);
    }

    // ---- the client that does one thing after the other ----

    private void act() throws Exception {
      Map<String, byte[]> files = last().files;
      String path = "/a" + random.nextInt(FILES);
      byte[] present = files.get(path);
      Map<String, byte[]> after = new HashMap<>(files);
      long begun = now();
      try {
        int kind = random.nextInt(4);
        if (present == null) {
          byte[] bytes = Bytes.random(random, random.nextInt(MOST_BYTES));
          note("writes " + path + " with " + bytes.length);
          after.put(path, bytes);
          Bytes.write(store, path, bytes);
        } else if (kind == 0 && present.length < MOST_BYTES) {
          byte[] more = Bytes.random(random, 1 + random.nextInt(MOST_PIECE));
          note("appends " + more.length + " to " + path + " with " + present.length);
          after.put(path, concatenated(present, more));
          Bytes.append(store.lookup(path).get().asFile(), more);
        } else if (kind == 1) {
          String target = "/a" + random.nextInt(FILES);
          if (files.containsKey(target)) {
            return;
          }
          note("renames " + path + " to " + target);
          after.put(target, after.remove(path));
          store.rename(path, target).get();
          // Both names at once.
          moments.add(new Moment(begun, now(), "", after));
          return;
        } else {
          note("deletes " + path);
          after.remove(path);
          store.delete(path, false).get();
        }
        moments.add(new Moment(begun, now(), path, after));
      } catch (Exception e) {
        // Nobody who knows what was lost has later space.
        assertTrue(code(e) != ErrorCode.STALE_EXTENT, e.toString());
        // It is done in part, or not. What is there stays.
        Map<String, byte[]> found = observe();
        assertTrue(isBetween(files, after, path, found), "after a failure: " + describe(found));
        if (!isSame(files, found)) {
          moments.add(new Moment(begun, now(), path, found));
        }
      }
    }

    /** Whether what is there is one of two states, or a name that changes is on the way. */
    private boolean isBetween(
        Map<String, byte[]> before,
        Map<String, byte[]> after,
        String path,
        Map<String, byte[]> is) {
      if (isSame(before, is) || isSame(after, is)) {
        return true;
      }
      Map<String, byte[]> rest = new HashMap<>(before);
      rest.remove(path);
      Map<String, byte[]> others = new HashMap<>(is);
      byte[] found = others.remove(path);
      byte[] whole = after.get(path);
      byte[] least = before.getOrDefault(path, new byte[0]);
      return isSame(rest, others)
          && found != null
          && whole != null
          && found.length >= least.length
          && found.length <= whole.length
          && Arrays.equals(found, Arrays.copyOf(whole, found.length));
    }

    private static boolean isSame(Map<String, byte[]> expected, Map<String, byte[]> found) {
      return expected.keySet().equals(found.keySet())
          && expected.entrySet().stream()
              .allMatch(each -> Arrays.equals(each.getValue(), found.get(each.getKey())));
    }

    private static String describe(Map<String, byte[]> files) {
      Map<String, Object> lengths = new TreeMap<>();
      files.forEach(
          (path, bytes) -> lengths.put(path, bytes.length + " #" + Arrays.hashCode(bytes)));
      return lengths.toString();
    }

    private static void assertFiles(Map<String, byte[]> expected, Map<String, byte[]> found) {
      assertTrue(
          isSame(expected, found), () -> describe(found) + " instead of " + describe(expected));
    }

    private byte[] read(String path) throws Exception {
      // The first requests after a start may find a connection that is gone.
      for (int i = 0; ; i++) {
        try {
          CrailNode node = store.lookup(path).get();
          return node == null ? null : Bytes.read(node.asFile());
        } catch (Exception e) {
          ErrorCode code = code(e);
          if (i == 20 || code == ErrorCode.STALE_EXTENT || code == ErrorCode.WRITE_LEASE_LOST) {
            throw e;
          }
          pass(200);
        }
      }
    }

    private Map<String, byte[]> observe() throws Exception {
      Map<String, byte[]> found = new HashMap<>();
      for (int i = 0; i < FILES; i++) {
        byte[] bytes = read("/a" + i);
        if (bytes != null) {
          found.put("/a" + i, bytes);
        }
      }
      return found;
    }

    // ---- the client that has streams open ----

    private void disturb() throws Exception {
      if (open.size() < 2) {
        try {
          openAnother();
        } catch (Exception e) {
          code(e);
        }
        return;
      }
      Open each = open.get(random.nextInt(open.size()));
      if (random.nextInt(5) > 0 && each.issued.length < MOST_BYTES) {
        byte[] piece = Bytes.random(random, 1 + random.nextInt(MOST_PIECE));
        each.issued = concatenated(each.issued, piece);
        if (!each.isOld) {
          written.put(each.path, concatenated(written.get(each.path), piece));
        }
        try {
          // Not waited for.
          each.writes.add(each.stream.write(Bytes.buffer(piece)));
        } catch (Exception e) {
          code(e);
          end(each);
        }
      } else {
        end(each);
      }
    }

    private void openAnother() throws Exception {
      List<String> closed = new ArrayList<>(known);
      open.forEach(each -> closed.remove(each.path));
      CrailOutputStream stream;
      String path;
      if (closed.size() < 3) {
        path = "/b" + made++;
        written.put(path, new byte[0]);
        stream = Bytes.createFile(other, path).getDirectOutputStream(0);
        known.add(path);
      } else {
        path = closed.get(random.nextInt(closed.size()));
        CrailNode present = other.lookup(path).get();
        if (present == null || random.nextBoolean()) {
          note("other deletes " + path);
          acknowledged.remove(path);
          known.remove(path);
          other.delete(path, false).get();
          return;
        }
        int start = (int) present.asFile().getCapacity();
        acknowledged.remove(path);
        written.put(path, Arrays.copyOf(written.get(path), start));
        stream = present.asFile().getDirectOutputStream(0);
      }
      note("other opens " + path + " at " + written.get(path).length);
      open.add(new Open(path, stream));
    }

    private void end(Open each) throws Exception {
      open.remove(each);
      boolean isDone = true;
      for (Future<CrailResult> write : each.writes) {
        try {
          write.get();
        } catch (Exception e) {
          code(e);
          isDone = false;
        }
      }
      try {
        each.stream.close();
      } catch (Exception e) {
        code(e);
        isDone = false;
      }
      note("other ends " + each.path + (isDone ? "" : " with an error"));
      assertTrue(!isDone || !each.isOld || each.issued.length == 0, each.path + " goes on");
      if (isDone) {
        acknowledged.put(each.path, written.get(each.path));
        count("ended");
      }
    }

    /** The other client's files have its bytes, and all of them if it has got an answer. */
    private void checkOthers() throws Exception {
      for (String path : written.keySet()) {
        byte[] found = read(path);
        byte[] all = written.get(path);
        if (found != null) {
          assertTrue(found.length <= all.length, path + " has " + found.length);
          assertArrayEquals(Arrays.copyOf(all, found.length), found, path);
        }
        if (acknowledged.containsKey(path)) {
          assertArrayEquals(acknowledged.get(path), found, path);
        }
      }
    }

    // ---- the crash ----

    private void crash() throws Exception {
      checkOthers();
      if (random.nextBoolean()) {
        // Some of it gets to the disk.
        pass(random.nextInt(30));
      }
      note("crash; changes are lost for " + delayNanos / 1_000_000 + " ms at most");
      boolean isDatanodeFirst = random.nextBoolean();
      if (isDatanodeFirst) {
        endDatanodes();
      }
      namenode.kill(random.nextBoolean());
      if (!isDatanodeFirst) {
        endDatanodes();
      }
      pass(random.nextInt(400));
      boolean isNamenodeFirst = random.nextBoolean();
      if (isNamenodeFirst) {
        namenode.restart();
        pass(random.nextInt(2000));
      }
      restartDatanodes();
      if (!isNamenodeFirst) {
        pass(random.nextInt(2000));
        namenode.restart();
      }
      awaitDatanodes();
      Map<String, byte[]> found = observe();
      namenode.server().verify();
      int left = moments.size() - 1;
      while (left >= 0
          && !isSame(moments.get(left).files, found)
          && !(left + 1 < moments.size()
              && isBetween(
                  moments.get(left).files,
                  moments.get(left + 1).files,
                  moments.get(left + 1).changed,
                  found))) {
        left--;
      }
      assertTrue(left >= 0, "found " + describe(found) + ", expected " + describe(last().files));
      boolean isAll = isSame(last().files, found);
      note("of " + moments.size() + " moments, " + (left + 1) + " are left");
      count(isAll ? "lost nothing" : "lost some");
      if (!isAll) {
        long span = last().begun - moments.get(left + 1).ended;
        assertTrue(span <= delayNanos, "a span of " + span / 1_000_000 + " ms was lost");
      }
      moments.clear();
      moments.add(new Moment(now(), now(), "", found));
      for (Open each : open) {
        each.isOld = true;
        count("kept while open");
      }
      acknowledged.clear();
      known.clear();
      known.addAll(written.keySet());
      checkOthers();
      for (Open each : open) {
        appendTo(each.path);
      }
    }

    private void endDatanodes() {
      for (SimulatedDatanode each : datanodes) {
        if (keeps && random.nextInt(3) > 0) {
          note(each.host() + " ends");
          each.kill(random.nextBoolean());
        }
      }
    }

    private void restartDatanodes() throws Exception {
      for (SimulatedDatanode each : datanodes) {
        if (!each.lives()) {
          count("restarted with its bytes");
          each.restart();
        }
      }
    }

    /** The other client goes on with its stream, and does not know that it is not its own now. */
    private void appendTo(String path) throws Exception {
      byte[] present = read(path);
      if (present == null || random.nextInt(4) == 0) {
        return;
      }
      byte[] piece = Bytes.random(random, 1 + random.nextInt(MOST_PIECE));
      note("appends " + piece.length + " to " + path + " with " + present.length);
      written.put(path, concatenated(present, piece));
      try {
        Bytes.append(store.lookup(path).get().asFile(), piece);
        acknowledged.put(path, written.get(path));
        count("appended");
      } catch (Exception e) {
        code(e);
      }
    }

    private void finish() throws Exception {
      for (Open each : List.copyOf(open)) {
        end(each);
      }
      assertFiles(last().files, observe());
      checkOthers();
      for (String path : last().files.keySet()) {
        deleteAtLast(path);
      }
      for (String path : written.keySet()) {
        if (store.lookup(path).get() != null) {
          deleteAtLast(path);
        }
      }
      network.runFor(LEASE.multipliedBy(3).plus(MARGIN.multipliedBy(3)));
      namenode.server().verify();
      for (ClassUsage usage : namenode.server().holdings().usage()) {
        assertEquals(usage.capacityBytes(), usage.freeBytes(), usage.toString());
      }
    }

    /** Deletes a file, as soon as the disk is fast enough. */
    private void deleteAtLast(String path) throws Exception {
      boolean isDone = false;
      for (int i = 0; i < 100 && !isDone; i++) {
        try {
          store.delete(path, false).get();
          isDone = true;
        } catch (Exception e) {
          assertEquals(ErrorCode.UNAVAILABLE, code(e), path);
          pass(50);
        }
      }
      assertTrue(isDone, path);
    }

    private static byte[] concatenated(byte[] first, byte[] second) {
      byte[] both = Arrays.copyOf(first, first.length + second.length);
      System.arraycopy(second, 0, both, first.length, second.length);
      return both;
    }

    @Override
    public void close() throws Exception {
      network.kill("client", true);
      network.kill("other", true);
      network.bury();
      datanodes.forEach(SimulatedDatanode::close);
      namenode.close();
    }
  }
}
