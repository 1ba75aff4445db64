/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.WriteLeaseHeldException;
import io.crail.storage.Transfer;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Writers whose datanode does not answer, or refuses, go on elsewhere; in virtual time. */
@Tag("once")
@Timeout(300)
class SimulatedFailoverTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final Duration FAST = Duration.ofNanos(10_000);
  private static final int MIB = 1 << 20;

  private final long seed = Bytes.seed("simulated failover");
  private final Random random = new Random(seed);
  private final TreeSet<Integer> datanodes = new TreeSet<>();
  private SimulatedCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.datatimeout=60s",
            "crail.namenode.smallvalue=4k");
    cluster.startDatanode(2);
    cluster.tier().latency(FAST, FAST);
    store = cluster.newStore("client");
    // Which of them has which id.
    fail(transfer -> false, ErrorCode.OK);
    Bytes.write(store, "/warm", new byte[4 * MIB]);
    store.delete("/warm", false).get();
    assertEquals(2, datanodes.size());
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  /** Lets writes fail, whose bytes arrive all the same, and late. */
  private void fail(Predicate<Transfer> which, ErrorCode code) {
    cluster
        .tier()
        .failWrites(
            transfer -> {
              datanodes.add(transfer.extent().datanode());
              return which.test(transfer) ? code : ErrorCode.OK;
            },
            LEASE.dividedBy(2));
  }

  private Predicate<Transfer> firstOne() {
    int first = datanodes.first();
    return transfer -> transfer.extent().datanode() == first;
  }

  private void assertHolds(String path, byte[] expected) throws Exception {
    assertArrayEquals(expected, Bytes.read(store.lookup(path).get().asFile()));
  }

  private static ErrorCode codeOf(Future<CrailResult> failed) {
    ExecutionException thrown = assertThrows(ExecutionException.class, failed::get);
    return assertInstanceOf(CrailException.class, thrown.getCause()).code();
  }

  @ParameterizedTest
  @EnumSource(
      value = ErrorCode.class,
      names = {"UNAVAILABLE", "DATA_LOST", "SPACE_PINNED", "UNKNOWN_DATANODE", "NO_SPACE"})
  void aDirectStreamGoesElsewhere(ErrorCode code) throws Exception {
    int[] failures = new int[1];
    Predicate<Transfer> which =
        code == ErrorCode.SPACE_PINNED
            ? transfer -> failures[0]++ < 3
            : transfer -> firstOne().test(transfer) && failures[0]++ >= 0;
    fail(which, code);
    for (long hint : new long[] {0, 7 * MIB}) {
      byte[] bytes = Bytes.random(random, 7 * MIB + 1000);
      String path = "/direct" + hint;
      CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(hint);
      CrailBuffer buffer = Bytes.buffer(bytes);
      assertEquals(bytes.length, output.write(buffer).get().getLen());
      output.close();
      assertHolds(path, bytes);
    }
    assertTrue(failures[0] > 0);
    assertTrue(cluster.usage().waitingBytes() > 0);
    cluster.network().runFor(LEASE.multipliedBy(2));
    // The namenode's own thread has to notice that.
    TestCluster.await("nothing rests", () -> cluster.usage().waitingBytes() == 0);
  }

  @Test
  void aBufferedStreamGoesElsewhere() throws Exception {
    fail(firstOne(), ErrorCode.UNAVAILABLE);
    byte[] bytes = Bytes.random(random, 5 * MIB + 1);
    try (CrailBufferedOutputStream output =
        Bytes.createFile(store, "/buffered").getBufferedOutputStream(0)) {
      output.write(bytes);
    }
    assertHolds("/buffered", bytes);
  }

  @Test
  void anAppendGoesOnInTheExtentThatIsThereAndElsewhere() throws Exception {
    byte[] all = Bytes.random(random, 3 * MIB);
    Bytes.write(store, "/appended", java.util.Arrays.copyOf(all, 5000));
    fail(
        transfer -> transfer.extent().fileOffset() > 0 && firstOne().test(transfer),
        ErrorCode.UNAVAILABLE);
    Bytes.append(
        store.lookup("/appended").get().asFile(), java.util.Arrays.copyOfRange(all, 5000, 3 * MIB));
    assertHolds("/appended", all);
  }

  @Test
  void bytesThatAreThereAreNotMoved() throws Exception {
    CrailOutputStream output = Bytes.createFile(store, "/there").getDirectOutputStream(0);
    output.write(Bytes.buffer(new byte[100])).get();
    fail(transfer -> true, ErrorCode.UNAVAILABLE);
    assertEquals(ErrorCode.UNAVAILABLE, codeOf(output.write(Bytes.buffer(new byte[100]))));
    assertThrows(CrailException.class, output::close);
  }

  @Test
  void withoutOtherSpaceTheFirstErrorIsReported() throws Exception {
    fail(transfer -> true, ErrorCode.UNAVAILABLE);
    CrailOutputStream output = Bytes.createFile(store, "/nowhere").getDirectOutputStream(0);
    assertEquals(ErrorCode.UNAVAILABLE, codeOf(output.write(Bytes.buffer(new byte[3 * MIB]))));
    assertThrows(CrailException.class, output::close);
    fail(transfer -> false, ErrorCode.OK);
    byte[] bytes = Bytes.random(random, MIB);
    Bytes.write(store, "/again", bytes);
    assertHolds("/again", bytes);
  }

  /** Each transfer may fail, be placed late, or both; what was acknowledged is there. */
  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16, 32, 64})
  void whateverFailsAcknowledgedBytesAreRight(int failing) throws Exception {
    Random choices = new Random(seed + failing);
    cluster.tier().latency(Duration.ofMillis(1), Duration.ofMillis(20));
    ErrorCode[] codes = {ErrorCode.UNAVAILABLE, ErrorCode.SPACE_PINNED, ErrorCode.STALE_EXTENT};
    double probability = 1.0 / failing;
    int whole = 0;
    for (int file = 0; file < 12; file++) {
      cluster
          .tier()
          .failWrites(
              transfer ->
                  choices.nextDouble() < probability
                      ? codes[choices.nextInt(codes.length)]
                      : ErrorCode.OK,
              Duration.ofMillis(choices.nextInt(3000)));
      String path = "/file" + file;
      ByteArrayOutputStream expected = new ByteArrayOutputStream();
      CrailOutputStream output =
          Bytes.createFile(store, path).getDirectOutputStream(choices.nextInt(2) * 3L * MIB);
      boolean failed = false;
      try {
        List<Future<CrailResult>> writes = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
          byte[] bytes = Bytes.random(choices, 1 + choices.nextInt(1 << choices.nextInt(20)));
          expected.write(bytes);
          writes.add(output.write(Bytes.buffer(bytes)));
          if (choices.nextInt(4) == 0) {
            writes.get(i).get();
          }
        }
        for (Future<CrailResult> write : writes) {
          write.get();
        }
      } catch (ExecutionException | CrailException e) {
        failed = true;
      }
      try {
        output.close();
      } catch (CrailException e) {
        failed = true;
      }
      if (!failed) {
        whole++;
        assertHolds(path, expected.toByteArray());
        cluster.network().runFor(Duration.ofSeconds(5));
        assertHolds(path, expected.toByteArray());
      }
    }
    // Of a file of some ten pieces that fail half of the time hardly any becomes whole.
    assertTrue(whole > 0 || failing < 16);
  }

  @Test
  void aSilentDatanodeIsLeftSoon() throws Exception {
    cluster.crashDatanode(1);
    byte[] bytes = Bytes.random(random, 3 * MIB);
    long begin = cluster.nanoTime();
    Bytes.write(store, "/silent", bytes);
    Duration took = Duration.ofNanos(cluster.nanoTime() - begin);
    assertTrue(took.compareTo(Duration.ofSeconds(4)) < 0, took.toString());
    assertHolds("/silent", bytes);
    // The namenode knows, so no other client meets it.
    CrailStore other = cluster.newStore("other");
    begin = cluster.nanoTime();
    Bytes.write(other, "/other", bytes);
    took = Duration.ofNanos(cluster.nanoTime() - begin);
    assertTrue(took.compareTo(Duration.ofMillis(500)) < 0, took.toString());
  }

  @Test
  void aSlowDatanodeIsAwaitedIfNoOtherHasSpace() throws Exception {
    cluster.crashDatanode(2);
    Bytes.write(store, "/first", new byte[4 * MIB]);
    // Longer than a silent datanode is given, each half of a transfer.
    cluster.tier().latency(Duration.ofSeconds(4), Duration.ofSeconds(4));
    byte[] bytes = Bytes.random(random, 2 * MIB);
    CrailFile file = Bytes.write(store, "/slow", bytes);
    assertEquals(bytes.length, file.getCapacity());
    cluster.tier().latency(FAST, FAST);
    assertHolds("/slow", bytes);
  }

  /** A writer who has a block of space and knows the way to it. */
  private CrailOutputStream beginWithShortDeadline(String path) throws Exception {
    cluster.close();
    cluster =
        new SimulatedCluster(
            seed,
            "crail.lease=" + LEASE.toMillis() + "ms",
            "crail.rpctimeout=30s",
            "crail.datatimeout=3s");
    cluster.startDatanode(2);
    store = cluster.newStore("client");
    // So it knows both datanodes.
    Bytes.write(store, "/warm", new byte[4 * MIB]);
    CrailOutputStream output = Bytes.createFile(store, path).getDirectOutputStream(MIB);
    cluster.network().runFor(Duration.ofSeconds(1));
    return output;
  }

  /** A write fails in time, though the namenode says nothing; then it is there again. */
  private void assertEndsInTime(CrailOutputStream output, int length) throws Exception {
    cluster.network().partition("client", SimulatedCluster.NAMENODE);
    long begin = cluster.nanoTime();
    assertEquals(ErrorCode.TIMED_OUT, codeOf(output.write(Bytes.buffer(new byte[length]))));
    Duration took = Duration.ofNanos(cluster.nanoTime() - begin);
    assertTrue(took.compareTo(Duration.ofMillis(3_100)) < 0, took.toString());
    cluster.network().heal("client", SimulatedCluster.NAMENODE);
    assertThrows(CrailException.class, output::close);
  }

  @Test
  void aWriteHasNoMoreTimeWhenItHasToAskForSpace() throws Exception {
    assertEndsInTime(beginWithShortDeadline("/f"), 2 * MIB);
    // Nothing is on its way any more, so the next writer need not wait.
    CrailFile file = cluster.newStore("other").lookup("/f").get().asFile();
    file.getDirectOutputStream(0).close();
  }

  @Test
  void aWriteHasNoMoreTimeWhenItHasToGoElsewhere() throws Exception {
    CrailOutputStream output = beginWithShortDeadline("/f");
    fail(transfer -> true, ErrorCode.UNAVAILABLE);
    assertEndsInTime(output, 1000);
    // Its bytes are still on their way, so no other writer may have the space yet.
    CrailFile file = cluster.newStore("other").lookup("/f").get().asFile();
    assertThrows(WriteLeaseHeldException.class, () -> file.getDirectOutputStream(0));
  }

  @Test
  void aValueThatIsPutGoesElsewhere() throws Exception {
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    int length = 60_000;
    int[] failed = new int[1];
    for (int i = 0; i < 40; i++) {
      if (i == 4) {
        fail(transfer -> firstOne().test(transfer) && ++failed[0] > 0, ErrorCode.UNAVAILABLE);
      }
      byte[] value = Bytes.random(random, length);
      store.put("/t/" + i % 3, Bytes.buffer(value)).get();
      CrailBuffer buffer = Bytes.empty(length);
      assertEquals(length, store.get("/t/" + i % 3, buffer).get().getLen());
      buffer.position(length);
      assertArrayEquals(value, Bytes.bytesOf(buffer));
    }
    assertTrue(failed[0] > 0);
    // Who could not be reached gets nothing of this client any more.
    assertTrue(failed[0] < 12, failed[0] + " failures");
  }

  @Test
  void anAnswerThatIsLostIsAskedForAgain() throws Exception {
    fail(firstOne(), ErrorCode.UNAVAILABLE);
    byte[] bytes = Bytes.random(random, 6 * MIB);
    // A create whose answer is lost fails honestly; to ask for space can be repeated.
    CrailFile file = Bytes.createFile(store, "/broken");
    cluster.network().breakConnections(0.02);
    try {
      CrailOutputStream output = file.getDirectOutputStream(0);
      output.write(Bytes.buffer(bytes)).get();
      output.close();
    } finally {
      cluster.network().breakConnections(0);
    }
    assertHolds("/broken", bytes);
    assertFalse(store.lookup("/broken").get() == null);
  }
}
