/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.common.error.CrailTimeoutException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.application.ApplicationStore;
import io.crail.spark.application.Stores;
import io.crail.spark.broadcast.CorruptValueException;
import io.crail.spark.broadcast.CrailBroadcastException;
import io.crail.spark.broadcast.ValueFile;
import io.crail.spark.broadcast.Values;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkException;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskKilled;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.broadcast.TorrentBroadcast;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BroadcastBlockId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Option;
import scala.Tuple2;

@Tag("once")
class CrailPluginTest extends WithPlugin {
  private static List<Integer> hashes(JavaSparkContext spark, Broadcast<byte[]> broadcast) {
    return spark
        .parallelize(Collections.nCopies(8, 0), 8)
        .map(i -> Arrays.hashCode(broadcast.value()))
        .collect();
  }

  private static void assertRead(
      JavaSparkContext spark, Broadcast<byte[]> broadcast, byte[] value) {
    assertEquals(Collections.nCopies(8, Arrays.hashCode(value)), hashes(spark, broadcast));
  }

  private List<String> files() throws Exception {
    return Broadcasts.files(store);
  }

  @ParameterizedTest
  @CsvSource({
    "false,false,JavaSerializer",
    "true,false,KryoSerializer",
    "false,true,KryoSerializer",
    "true,true,JavaSerializer",
  })
  void tasksReadWhatTheDriverBroadcast(boolean compressed, boolean encrypted, String serializer)
      throws Exception {
    SparkConf conf =
        conf()
            .set("spark.broadcast.compress", String.valueOf(compressed))
            .set("spark.io.encryption.enabled", String.valueOf(encrypted))
            .set("spark.serializer", "org.apache.spark.serializer." + serializer);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      byte[] small = Broadcasts.bytes(128);
      Broadcast<byte[]> left = spark.broadcast(small);
      assertInstanceOf(TorrentBroadcast.class, left);
      assertRead(spark, left, small);
      assertEquals(List.of(), files());

      // A third of it can be compressed.
      byte[] large = Broadcasts.bytes(LARGE);
      Arrays.fill(large, LARGE / 3, 2 * LARGE / 3, (byte) 'x');
      Broadcast<byte[]> stored = spark.broadcast(large);
      assertFalse(stored instanceof TorrentBroadcast);
      assertRead(spark, stored, large);
      Broadcasts.forget(stored);
      assertRead(spark, stored, large);
      assertArrayEquals(large, stored.value());

      byte[] content = Broadcasts.content(store, files().get(0));
      assertEquals(compressed, content.length < LARGE * 3 / 4, content.length + " bytes");
      String plain = new String(content, ISO_8859_1);
      assertEquals(!encrypted && !compressed, plain.contains("x".repeat(1000)));
      // What cannot be compressed may stand there as it is.
      assertFalse(encrypted && plain.contains(new String(large, 0, 1000, ISO_8859_1)));
      stored.destroy();
    }
  }

  @Test
  void aProcessReadsAValueOnceAndHasOneInstance() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      Broadcasts.forget(broadcast);
      long before = Broadcasts.bytesRead();
      Set<Integer> instances =
          spark
              .parallelize(Collections.nCopies(20, 0), 20)
              .map(i -> System.identityHashCode(broadcast.value()))
              .collect()
              .stream()
              .collect(Collectors.toSet());
      assertEquals(1, instances.size());
      long length = store.lookup(files().get(0)).get().getCapacity();
      assertEquals(length, Broadcasts.bytesRead() - before);
      // Spark accounts it.
      assertTrue(
          SparkEnv.get()
                  .blockManager()
                  .getStatus(new BroadcastBlockId(broadcast.id(), ""))
                  .get()
                  .memSize()
              >= LARGE);
    }
  }

  /** As cheap as Spark's own: no store, and no waiting for other tasks. */
  @Test
  void aCachedValueIsReadWithoutTheStore() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      byte[] value = Broadcasts.copy(broadcast).value();
      SparkConf conf = SparkEnv.get().conf();
      String application = conf.get(Stores.APPLICATION_KEY);
      conf.remove(Stores.APPLICATION_KEY);
      try {
        assertSame(value, Broadcasts.copy(broadcast).value());
      } finally {
        conf.set(Stores.APPLICATION_KEY, application);
      }
    }
  }

  @Test
  void theDriverHasItsValueOnce() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      byte[] value = Broadcasts.bytes(LARGE);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      assertTrue(value == broadcast.value(), "another instance");
      assertTrue(
          SparkEnv.get()
              .blockManager()
              .getStatus(new BroadcastBlockId(broadcast.id(), "piece0"))
              .isEmpty());
    }
  }

  @Test
  void anUnpersistedValueIsThereStill() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      byte[] value = Broadcasts.bytes(LARGE);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      broadcast.unpersist(true);
      assertEquals(1, files().size());
      assertRead(spark, broadcast, value);
    }
  }

  @Test
  void aDestroyedValueLeavesTheStoreAndFailsAsABroadcast() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      Broadcast<byte[]> elsewhere = Broadcasts.copy(broadcast);
      broadcast.destroy(true);
      assertEquals(List.of(), files());
      assertThrows(SparkException.class, broadcast::value);
      assertThrows(IOException.class, () -> Broadcasts.copy(broadcast));
      SparkEnv.get().broadcastManager().cachedValues().clear();
      CrailBroadcastException error = assertThrows(CrailBroadcastException.class, elsewhere::value);
      assertTrue(error.getMessage().contains("was destroyed"), error::getMessage);
      SparkException failed = assertThrows(SparkException.class, () -> hashes(spark, elsewhere));
      assertTrue(failed.getMessage().contains("was destroyed"), failed::getMessage);
    }
  }

  @Test
  void theCleanerDeletesTheFileToo() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      assertEquals(1, files().size());
      spark.sc().cleaner().get().doCleanupBroadcast(broadcast.id(), true);
      assertEquals(List.of(), files());
    }
  }

  /** Takes as long to read as the test wants. */
  private static final class Slow implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final CountDownLatch BEGUN = new CountDownLatch(1);
    private static final CountDownLatch GO_ON = new CountDownLatch(1);

    private final byte[] bytes = Broadcasts.bytes(2 * MIB);

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      BEGUN.countDown();
      try {
        GO_ON.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      }
    }
  }

  private static JavaRDD<Integer> lengths(JavaSparkContext spark, Broadcast<Slow> broadcast) {
    return spark.parallelize(Collections.nCopies(4, 0), 4).map(i -> broadcast.value().bytes.length);
  }

  /** Both the one that reads, and those that wait for it; none of them has lost a shuffle. */
  @Test
  void tasksThatAreKilledEndAtOnce() throws Exception {
    List<TaskEndReason> reasons = new CopyOnWriteArrayList<>();
    CountDownLatch ended = new CountDownLatch(4);
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onTaskEnd(SparkListenerTaskEnd event) {
                  reasons.add(event.reason());
                  ended.countDown();
                }
              });
      Broadcast<Slow> broadcast = spark.broadcast(new Slow());
      Broadcasts.forget(broadcast);
      spark.setJobGroup("killed", "", true);
      JavaFutureAction<List<Integer>> job = lengths(spark, broadcast).collectAsync();
      assertTrue(Slow.BEGUN.await(60, TimeUnit.SECONDS));
      spark.cancelJobGroup("killed");
      assertThrows(ExecutionException.class, () -> job.get(60, TimeUnit.SECONDS));
      spark.clearJobGroup();
      assertTrue(ended.await(60, TimeUnit.SECONDS), reasons::toString);
      Slow.GO_ON.countDown();
      assertEquals(Collections.nCopies(4, 2 * MIB), lengths(spark, broadcast).collect());
      broadcast.destroy();
    }
    // Spark has reported all tasks when it ends.
    assertEquals(8, reasons.size());
    List<TaskEndReason> killed = reasons.stream().filter(r -> r instanceof TaskKilled).toList();
    assertEquals(4, killed.size(), reasons::toString);
  }

  /** Spark broadcasts the places of map outputs; what it cannot read is no lost shuffle. */
  @Test
  void placesOfMapOutputsThatWereDestroyedAreNoLostShuffle() throws Exception {
    SparkConf conf = conf().set("spark.crail.broadcast.minsize", "0");
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      SparkEnv env = SparkEnv.get();
      BlockManagerId place = BlockManagerId.apply("1", "host", 1, Option.empty());
      MapStatus[] statuses = {MapStatus.apply(place, new long[] {1, 2}, 7, 0)};
      Tuple2<byte[], Broadcast<byte[][]>> sent =
          MapOutputTracker.serializeOutputStatuses(
              statuses, env.broadcastManager(), false, 0, env.conf());
      Broadcasts.forget(sent._2());
      MapStatus[] read = MapOutputTracker.deserializeOutputStatuses(sent._1(), env.conf());
      assertEquals(place, read[0].location());
      sent._2().destroy(true);
      env.broadcastManager().cachedValues().clear();
      assertThrows(
          CrailBroadcastException.class,
          () -> MapOutputTracker.deserializeOutputStatuses(sent._1(), env.conf()));
      assertNotNull(spark.sc());
    }
  }

  @Test
  void aCorruptValueIsNotKept() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      byte[] value = Broadcasts.bytes(LARGE);
      Broadcast<byte[]> original = spark.broadcast(value);
      Broadcast<byte[]> broadcast = Broadcasts.copy(original);
      Broadcasts.forget(broadcast);
      String path = files().get(0);
      byte[] content = Broadcasts.content(store, path);
      byte[] wrong = content.clone();
      wrong[LARGE / 2] ^= 1;
      Broadcasts.replace(store, path, wrong);
      for (int i = 0; i < 2; i++) {
        CrailBroadcastException error =
            assertThrows(CrailBroadcastException.class, broadcast::value);
        assertInstanceOf(CorruptValueException.class, error.getCause());
        assertThrows(SparkException.class, () -> hashes(spark, broadcast));
      }
      Broadcasts.replace(store, path, content);
      assertRead(spark, broadcast, value);
      original.destroy();
    }
  }

  @Test
  void aFullStoreLeavesTheValueToSpark() throws Exception {
    try (SparkOnCrail small = new SparkOnCrail(EmbeddedCrail.builder(), 16L * MIB);
        CrailStore client = small.store();
        JavaSparkContext spark =
            SparkOnCrail.context(
                small
                    .conf("local[4]", local)
                    .remove("spark.shuffle.manager")
                    .set("spark.plugins", CrailPlugin.class.getName()))) {
      byte[] value = Broadcasts.bytes(32 * MIB);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      assertInstanceOf(TorrentBroadcast.class, broadcast);
      assertRead(spark, broadcast, value);
      // Waits for the deletion of what was written.
      Stores.PROCESS.share(
          spark.getConf(),
          application -> {
            application.deletions().delete("/nothing", true);
            return 0;
          });
      assertEquals(List.of(), Broadcasts.files(client));
      // A smaller one still has room.
      assertFalse(spark.broadcast(Broadcasts.bytes(LARGE)) instanceof TorrentBroadcast);
    }
  }

  @Test
  void anUnreachableStoreLeavesAllToSparkAndCostsOneTimeout() throws Exception {
    long timeoutMillis = 1000;
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    SparkConf conf =
        conf()
            .set("spark.crail.namenode.address", "crail://127.0.0.1:" + port)
            .set("spark.crail.rpctimeout", String.valueOf(timeoutMillis));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      byte[] value = Broadcasts.bytes(2 * MIB);
      Broadcast<byte[]> first = spark.broadcast(value);
      assertInstanceOf(TorrentBroadcast.class, first);
      assertRead(spark, first, value);
      long begin = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        assertInstanceOf(TorrentBroadcast.class, spark.broadcast(value));
      }
      long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      assertTrue(tookMillis < 10 * timeoutMillis, tookMillis + " ms");
    }
  }

  @Test
  void aStoreThatIsGoneFailsReadersAsABroadcast() throws Exception {
    SparkOnCrail dying = new SparkOnCrail(EmbeddedCrail.builder());
    SparkConf conf =
        dying
            .conf("local[4]", local)
            .remove("spark.shuffle.manager")
            .set("spark.crail.rpctimeout", "1000")
            .set("spark.plugins", CrailPlugin.class.getName());
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      Broadcast<byte[]> elsewhere = Broadcasts.copy(broadcast);
      dying.close();
      Broadcasts.forget(broadcast);
      CrailBroadcastException error = assertThrows(CrailBroadcastException.class, elsewhere::value);
      assertTrue(error.getMessage().contains("cannot be read from Crail"), error::getMessage);
      // It could have started again until then.
      assertInstanceOf(CrailTimeoutException.class, error.getCause());
      broadcast.destroy();
    } finally {
      dying.close();
    }
  }

  /** As the scheduler does it when it forgets the places of map outputs. */
  @Test
  void aDestroyWaitsForNoStore() throws Exception {
    SparkOnCrail dying = new SparkOnCrail(EmbeddedCrail.builder());
    SparkConf conf =
        dying
            .conf("local[4]", local)
            .remove("spark.shuffle.manager")
            .set("spark.crail.rpctimeout", "4000")
            .set("spark.plugins", CrailPlugin.class.getName());
    int port = dying.cluster().namenodeAddresses().get(0).getPort();
    try (JavaSparkContext spark = SparkOnCrail.context(conf);
        ServerSocket silent = new ServerSocket()) {
      Broadcast<byte[]> broadcast = spark.broadcast(Broadcasts.bytes(LARGE));
      dying.close();
      // Now connections are taken, and nothing is ever answered.
      silent.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      long begin = System.nanoTime();
      broadcast.destroy();
      long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      assertTrue(tookMillis < 2000, tookMillis + " ms");
    } finally {
      dying.close();
    }
  }

  /** Spark serializes it once more, to its disk, which fails. */
  private static final class WritableOnce implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final AtomicInteger WRITES = new AtomicInteger();

    private final byte[] bytes = Broadcasts.bytes(2 * MIB);

    private void writeObject(ObjectOutputStream out) throws IOException {
      if (WRITES.incrementAndGet() > 1) {
        throw new IOException("the second time");
      }
      out.defaultWriteObject();
    }

    @Override
    public String toString() {
      return bytes.length + " bytes";
    }
  }

  @Test
  void aValueThatSparkCannotKeepLeavesNothing() throws Exception {
    SparkConf conf =
        conf().set("spark.testing", "true").set("spark.testing.memory", String.valueOf(MIB));
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      assertThrows(IOException.class, () -> spark.broadcast(new WritableOnce()));
      Stores.PROCESS.share(
          spark.getConf(),
          application -> {
            application.deletions().delete("/nothing", true);
            return 0;
          });
      assertEquals(List.of(), files());
      assertTrue(WritableOnce.WRITES.get() > 1);
    }
  }

  @Test
  void aValueThatCannotBeSerializedFailsAsInSpark() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      assertThrows(
          java.io.NotSerializableException.class,
          () -> spark.broadcast(List.of(Broadcasts.bytes(LARGE), new Object())));
      // Null is useless, but allowed.
      assertNull(spark.broadcast(null).value());
    }
  }

  @Test
  void anApplicationDoesNotTouchAnother() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      byte[] value = Broadcasts.bytes(LARGE);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      SparkConf second = spark.getConf().remove(Stores.APPLICATION_KEY);
      Stores.nameApplication(second);
      try (ApplicationStore other = Stores.PROCESS.of(second)) {
        String path = other.broadcastPath(broadcast.id());
        ValueFile file =
            Values.write(
                    other.broadcasts(),
                    path,
                    SparkEnv.get().serializer(),
                    "of another application",
                    0,
                    out -> out,
                    OutputStream.nullOutputStream(),
                    other.deletions())
                .orElseThrow();
        assertEquals(2, files().size());
        Broadcasts.forget(broadcast);
        assertRead(spark, broadcast, value);
        assertEquals(
            "of another application",
            Values.read(file, other.store(), SparkEnv.get().serializer(), in -> in));
        other.removeAll();
        Broadcasts.forget(broadcast);
        assertRead(spark, broadcast, value);
      }
    }
  }

  /** Both parts of the plugin clean up. */
  @Test
  void withTheShuffleManagerNothingIsLeftEither() throws Exception {
    SparkConf conf = conf().set("spark.shuffle.manager", CrailShuffleManager.class.getName());
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      byte[] value = Broadcasts.bytes(LARGE);
      Broadcast<byte[]> broadcast = spark.broadcast(value);
      assertEquals(1, Broadcasts.children(store, "/").size());
      int hash = Arrays.hashCode(value);
      assertEquals(
          List.of(hash),
          spark
              .parallelize(Collections.nCopies(100, 0), 4)
              .map(i -> Arrays.hashCode(broadcast.value()))
              .distinct(3)
              .collect());
    }
  }
}
