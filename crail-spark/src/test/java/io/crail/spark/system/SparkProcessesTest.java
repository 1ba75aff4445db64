/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static io.crail.spark.system.NumbersJob.MAPS;
import static io.crail.spark.system.NumbersJob.PARTITIONS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.spark.line42.KnownShuffles;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The short part of these tests, with one application for all. */
@Tag("once")
class SparkProcessesTest {
  private static final int EXECUTORS = 2;

  @TempDir private static Path local;
  private static Map<ShuffleJobs, List<String>> expected;
  private static CrailServers servers;
  private static SparkApplication application;

  @BeforeAll
  static void start() throws Exception {
    servers = CrailServers.start(2, 2, "128m");
    expected = ShuffleJobs.expected();
    SparkConf conf =
        SparkApplication.conf(servers, SparkApplication.localCluster(EXECUTORS), local);
    application = SparkApplication.start(conf, EXECUTORS);
  }

  @AfterAll
  static void stop() throws Exception {
    if (application != null) {
      application.close();
    }
    if (servers != null) {
      try {
        servers.assertEmpty();
      } finally {
        servers.close();
      }
    }
  }

  @Test
  void resultsAreThoseOfSparksOwnShuffle() {
    SparkConf conf = application.spark().getConf();
    for (Serializer serializer : List.of(new KryoSerializer(conf), new JavaSerializer(conf))) {
      for (ShuffleJobs job : ShuffleJobs.values()) {
        assertEquals(
            expected.get(job), job.run(application.spark(), serializer), job + " " + serializer);
      }
    }
    assertFalse(application.maps(servers));
  }

  /** Also where Spark's writers have written, who keep the ids of its map tasks. */
  @Test
  void executorsForgetAShuffleThatIsRemoved() throws Exception {
    application.awaitExecutors();
    JavaSparkContext spark = application.spark();
    JavaPairRDD<Integer, Integer> numbers =
        ShuffleJobs.moved(
            NumbersJob.pairs(spark, Gate.closed(local), null),
            PARTITIONS,
            new JavaSerializer(spark.getConf()));
    numbers.count();
    spark.sc().listenerBus().waitUntilEmpty();
    int shuffle = application.log().shuffle();
    assertEquals(List.of(true, true), knownTo(shuffle));
    // Spark removes it by itself when the program has dropped it and garbage is collected.
    Reference.reachabilityFence(numbers);
    spark.sc().cleaner().get().doCleanupShuffle(shuffle, true);
    assertEquals(List.of(false, false), knownTo(shuffle));
  }

  /** {@return whether each executor knows a shuffle} */
  private static List<Boolean> knownTo(int shuffle) throws Exception {
    Gate everywhere = Gate.closed(local);
    return application
        .spark()
        .parallelize(List.of(0, 1), 2)
        .map(
            each -> {
              everywhere.meet(2);
              return KnownShuffles.includes(shuffle);
            })
        .collect();
  }

  /** One executor is killed while outputs are written, the other while they are read. */
  @Test
  void outputsOfAKilledExecutorAreRead() throws Exception {
    application.awaitExecutors();
    StageLog log = application.log();
    log.clear();
    Gate everywhere = Gate.closed(local);
    Gate lastMap = Gate.closed(local);
    Gate read = Gate.closed(local);
    JavaFutureAction<List<Integer>> job =
        NumbersJob.through(
                NumbersJob.moved(NumbersJob.pairs(application.spark(), everywhere, lastMap))
                    .values(),
                read)
            .collectAsync();
    Gate.Arrival writer = lastMap.await(1).get(0);
    log.awaitSucceeded(MAPS - 1);
    kill(writer);
    lastMap.open();
    // The other one of the first two: it has written as well.
    kill(
        read.await(2).stream()
            .min(Comparator.comparingInt(task -> Integer.parseInt(task.executor())))
            .orElseThrow());
    read.open();
    NumbersJob.assertWhole(SparkApplication.result(job));
    assertEquals(List.of("map " + MAPS, "result " + PARTITIONS), log.stages());
    assertEquals(MAPS + PARTITIONS, log.succeeded(), "tasks that ended well");
  }

  private static void kill(Gate.Arrival task) throws Exception {
    assertTrue(ProcessHandle.of(task.pid()).orElseThrow().destroyForcibly());
    application.log().awaitRemoved(task.executor());
  }

  /** What lay there, and no more, is computed again, in one more attempt of the stage. */
  @Test
  void aKilledDatanodeCostsOneMoreAttempt() throws Exception {
    application.awaitExecutors();
    int victim = servers.startDatanode();
    StageLog log = application.log();
    log.clear();
    Gate read = Gate.closed(local);
    JavaFutureAction<List<Integer>> job =
        NumbersJob.through(
                NumbersJob.moved(NumbersJob.pairs(application.spark(), Gate.closed(local), null))
                    .values(),
                read)
            .collectAsync();
    read.await(2);
    int lost = application.outputsAt(victim);
    assertTrue(lost > 0 && lost < MAPS, lost + " lost outputs");
    servers.killDatanode(victim);
    read.open();
    NumbersJob.assertWhole(SparkApplication.result(job));
    assertEquals(
        List.of("map " + MAPS, "result " + PARTITIONS, "map " + lost, "result " + (PARTITIONS - 2)),
        log.stages());
  }
}
