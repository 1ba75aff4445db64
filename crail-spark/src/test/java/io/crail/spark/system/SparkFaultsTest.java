/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static io.crail.spark.system.NumbersJob.MAPS;
import static io.crail.spark.system.NumbersJob.PARTITIONS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailStore;
import io.crail.spark.Broadcasts;
import io.crail.spark.CrailPlugin;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.JavaSparkContext$;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.broadcast.TorrentBroadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.serializer.KryoSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/** What happens while a job runs; each time with an application of its own. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class SparkFaultsTest {
  private static final int EXECUTORS = 2;
  private static final String MAP_STAGE = "map " + MAPS;
  private static final String RESULT_STAGE = "result " + PARTITIONS;

  @TempDir private static Path local;
  private static CrailServers servers;

  @BeforeAll
  static void start() throws Exception {
    servers = CrailServers.start(1, 2, "128m");
  }

  @AfterAll
  static void stop() throws Exception {
    if (servers != null) {
      servers.close();
    }
  }

  private static SparkConf conf() throws Exception {
    return SparkApplication.conf(servers, SparkApplication.localCluster(EXECUTORS), local);
  }

  private static JavaRDD<Integer> moved(JavaSparkContext spark) throws Exception {
    return NumbersJob.moved(NumbersJob.pairs(spark, Gate.closed(local), null)).values();
  }

  @Test
  void aDecommissionedExecutorGoesAndItsOutputsStay() throws Exception {
    SparkConf conf =
        conf()
            .set("spark.decommission.enabled", "true")
            .set("spark.storage.decommission.enabled", "true")
            .set("spark.storage.decommission.shuffleBlocks.enabled", "true")
            .set("spark.storage.decommission.replicationReattemptInterval", "1s");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      StageLog log = application.log();
      Gate read = Gate.closed(local);
      JavaRDD<Integer> moved = moved(application.spark());
      JavaFutureAction<List<Integer>> job = NumbersJob.through(moved, read).collectAsync();
      String victim = read.await(EXECUTORS).get(0).executor();
      ExecutorAllocationClient scheduler =
          (ExecutorAllocationClient) application.spark().sc().schedulerBackend();
      assertTrue(
          scheduler.decommissionExecutor(
              victim, new ExecutorDecommissionInfo("the test", Option.empty()), false, false));
      read.open();
      NumbersJob.assertWhole(SparkApplication.result(job));
      log.awaitRemoved(victim);
      NumbersJob.assertWhole(moved.collect());
      assertEquals(List.of(MAP_STAGE, RESULT_STAGE, RESULT_STAGE), log.stages());
      assertEquals(List.of(), log.failures());
    }
    servers.assertEmpty();
  }

  /** With one line of the page, and bounds for the test. */
  @Test
  void idleExecutorsGoAndTheirOutputsStay() throws Exception {
    SparkConf conf =
        conf()
            .set("spark.dynamicAllocation.enabled", "true")
            .set("spark.dynamicAllocation.initialExecutors", String.valueOf(EXECUTORS))
            .set("spark.dynamicAllocation.maxExecutors", String.valueOf(EXECUTORS))
            .set("spark.dynamicAllocation.executorIdleTimeout", "5s")
            .set("spark.executor.cores", "1");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      StageLog log = application.log();
      JavaRDD<Integer> moved = moved(application.spark());
      NumbersJob.assertWhole(moved.collect());
      Eventually.holds("no executor is left", () -> log.removed().size() == EXECUTORS);
      NumbersJob.assertWhole(moved.collect());
      assertEquals(List.of(MAP_STAGE, RESULT_STAGE, RESULT_STAGE), log.stages());
      assertEquals(List.of(), log.failures());
    }
    servers.assertEmpty();
  }

  /** Waits whatever Spark does to the task. */
  private static void passDespiteKill(Gate gate) throws Exception {
    boolean interrupted = false;
    while (!gate.isOpen()) {
      try {
        gate.pass();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static <T> Iterator<T> firstAttemptWaits(Iterator<T> all, Gate gate) throws Exception {
    TaskContext task = TaskContext.get();
    if (task.partitionId() == PARTITIONS - 1 && task.attemptNumber() == 0) {
      passDespiteKill(gate);
    }
    return all;
  }

  /** The first attempt of a task is slow, in the map stage and in that of the result. */
  @Test
  void aSecondAttemptOfASlowTaskChangesNothing() throws Exception {
    Path directory = Files.createTempDirectory(local, "speculation");
    try (SparkWorkers workers = new SparkWorkers(EXECUTORS, SparkApplication.MEMORY, directory)) {
      SparkConf conf =
          SparkApplication.conf(servers, workers.url(), local)
              .set("spark.speculation", "true")
              .set("spark.speculation.interval", "100ms")
              .set("spark.speculation.multiplier", "1.5")
              .set("spark.speculation.quantile", "0.5");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        StageLog log = application.log();
        Gate slowMap = Gate.closed(local);
        Gate slowResult = Gate.closed(local);
        JavaPairRDD<Integer, Integer> pairs =
            NumbersJob.pairs(application.spark(), Gate.closed(local), null)
                .mapPartitionsToPair(all -> firstAttemptWaits(all, slowMap));
        JavaRDD<Integer> moved = NumbersJob.moved(pairs).values();
        NumbersJob.assertWhole(moved.collect());
        assertTrue(log.speculated() > 0, "no second attempt of the map task");
        // Now the first attempt, which was killed, could write.
        slowMap.open();
        NumbersJob.assertWhole(
            moved.mapPartitions(all -> firstAttemptWaits(all, slowResult)).collect());
        slowResult.open();
        assertEquals(List.of(MAP_STAGE, RESULT_STAGE, RESULT_STAGE), log.stages());
        Eventually.holds(
            "the first attempts have ended", () -> log.ended() == MAPS + 2 * PARTITIONS + 2);
        assertEquals(0, log.fetchFailures(), log.failures()::toString);
        assertEquals(MAPS, files(log.shuffle()), "files of the shuffle");
      }
    }
    servers.assertEmpty();
  }

  private static int files(int shuffle) throws Exception {
    int count = 0;
    try (CrailStore store = servers.store()) {
      for (String root : Broadcasts.children(store, "/")) {
        for (String directory : Broadcasts.children(store, root)) {
          if (directory.endsWith("/shuffle-" + shuffle)) {
            count += Broadcasts.children(store, directory).size();
          }
        }
      }
    }
    return count;
  }

  /** The last task has written a part of its output there, and the others all of theirs. */
  @Test
  void aDatanodeIsKilledWhileOutputsAreWritten() throws Exception {
    try (CrailServers own = CrailServers.start(1, 1, "64m")) {
      SparkConf conf =
          SparkApplication.conf(own, SparkApplication.localCluster(EXECUTORS), local)
              .set("spark.shuffle.spill.numElementsForceSpillThreshold", "100");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        StageLog log = application.log();
        Gate within = Gate.closed(local);
        JavaPairRDD<Integer, Integer> pairs =
            NumbersJob.pairs(application.spark(), Gate.closed(local), null)
                .mapPartitionsToPair(all -> waitingWithin(all, within));
        JavaFutureAction<List<Integer>> job = NumbersJob.moved(pairs).values().collectAsync();
        within.await(1);
        log.awaitSucceeded(MAPS - 1);
        own.startDatanode();
        own.killDatanode(0);
        within.open();
        NumbersJob.assertWhole(SparkApplication.result(job));
        assertTrue(log.fetchFailures() > 0, log.stages()::toString);
        long results = log.stages().stream().filter(each -> each.startsWith("result")).count();
        assertEquals(2, results, log.stages()::toString);
      }
      own.assertEmpty();
    }
  }

  /**
   * Spark's own values lay there as well, the places of map outputs and the tasks among them. New
   * executors, which have read none of them, get them from the driver.
   */
  @Test
  void aDatanodeWithBroadcastValuesIsKilled() throws Exception {
    try (CrailServers own = CrailServers.start(1, 1, "64m")) {
      SparkConf conf =
          SparkApplication.conf(own, SparkApplication.localCluster(EXECUTORS), local)
              .set("spark.plugins", CrailPlugin.class.getName())
              .set("spark.crail.broadcast.minsize", "0")
              .set("spark.shuffle.mapOutput.minSizeForBroadcast", "0");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        StageLog log = application.log();
        byte[] value = Broadcasts.bytes(2 << 20);
        int hash = Arrays.hashCode(value);
        Broadcast<byte[]> broadcast = application.spark().broadcast(value);
        Gate everywhere = Gate.closed(local);
        JavaRDD<Integer> moved =
            NumbersJob.moved(NumbersJob.pairs(application.spark(), everywhere, null)).values();
        NumbersJob.assertWhole(moved.collect());
        assertFalse(broadcast instanceof TorrentBroadcast);

        own.startDatanode();
        own.killDatanode(0);
        for (Gate.Arrival task : everywhere.arrivals()) {
          ProcessHandle.of(task.pid()).ifPresent(ProcessHandle::destroyForcibly);
          log.awaitRemoved(task.executor());
        }
        application.awaitExecutors();
        NumbersJob.assertWhole(
            moved.filter(number -> Arrays.hashCode(broadcast.value()) == hash).collect());
        assertTrue(
            log.failures().stream().noneMatch(each -> each.contains("CrailBroadcastException")),
            log.failures()::toString);
      }
      own.assertEmpty();
    }
  }

  private static <T> Iterator<T> waitingWithin(Iterator<T> all, Gate gate) {
    return new Iterator<>() {
      private int given;

      @Override
      public boolean hasNext() {
        return all.hasNext();
      }

      @Override
      public T next() {
        TaskContext task = TaskContext.get();
        if (++given == 500 && task.partitionId() == MAPS - 1 && task.attemptNumber() == 0) {
          try {
            gate.pass();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        }
        return all.next();
      }
    };
  }

  private static void signal(String signal, long process) throws Exception {
    Process kill = new ProcessBuilder("kill", signal, Long.toString(process)).start();
    assertTrue(kill.waitFor(30, TimeUnit.SECONDS));
    assertEquals(0, kill.exitValue());
  }

  /** For longer than the lease of what it writes, as on a host that is too busy. */
  @Test
  void aTaskWhoseProcessStandsStillWithinItsOutputRunsAgain() throws Exception {
    SparkConf conf = conf().set("spark.shuffle.spill.numElementsForceSpillThreshold", "100");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      StageLog log = application.log();
      Gate within = Gate.closed(local);
      JavaPairRDD<Integer, Integer> pairs =
          NumbersJob.pairs(application.spark(), Gate.closed(local), null)
              .mapPartitionsToPair(all -> waitingWithin(all, within));
      JavaFutureAction<List<Integer>> job = NumbersJob.moved(pairs).values().collectAsync();
      long process = within.await(1).get(0).pid();
      signal("-STOP", process);
      try {
        TimeUnit.SECONDS.sleep(2 * CrailServers.LEASE_SECONDS);
      } finally {
        signal("-CONT", process);
      }
      within.open();
      NumbersJob.assertWhole(SparkApplication.result(job));
      assertEquals(List.of(MAP_STAGE, RESULT_STAGE), log.stages());
      assertEquals(1, log.failures().size(), log.failures()::toString);
      assertTrue(
          log.failures().get(0).contains("WriteLeaseLostException"), log.failures()::toString);
      assertEquals(MAPS, files(log.shuffle()), "files of the shuffle");
    }
    servers.assertEmpty();
  }

  /** All outputs are gone, and one more attempt is enough, however many hosts they lay on. */
  @ParameterizedTest
  @ValueSource(ints = {2, 5})
  void aNamenodeIsRestartedEmpty(int datanodes) throws Exception {
    try (CrailServers own = CrailServers.start(1, datanodes, "64m")) {
      SparkConf conf =
          SparkApplication.conf(own, SparkApplication.localCluster(EXECUTORS), local)
              .set("spark.stage.maxConsecutiveAttempts", "2");
      try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
        StageLog log = application.log();
        Gate lastMap = Gate.closed(local);
        JavaFutureAction<List<Integer>> job =
            NumbersJob.moved(NumbersJob.pairs(application.spark(), Gate.closed(local), lastMap))
                .values()
                .collectAsync();
        lastMap.await(1);
        log.awaitSucceeded(MAPS - 1);
        own.restartNamenode(0);
        lastMap.open();
        NumbersJob.assertWhole(SparkApplication.result(job));
        assertTrue(log.fetchFailures() > 0, log.stages()::toString);
      }
      own.assertEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "spark"})
  void aFullStoreFailsTheJobAndItsSpaceComesBack(String writer) throws Exception {
    SparkConf conf =
        conf().set("spark.task.maxFailures", "1").set("spark.crail.shuffle.writer", writer);
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      JavaPairRDD<Integer, byte[]> tooMuch =
          application
              .spark()
              .parallelize(Collections.nCopies(400, 1 << 20), 4)
              .mapToPair(
                  length -> {
                    byte[] bytes = new byte[length];
                    new SplittableRandom().nextBytes(bytes);
                    return new Tuple2<>((int) bytes[0], bytes);
                  });
      SparkException failed =
          assertThrows(
              SparkException.class,
              () -> ShuffleJobs.moved(tooMuch, 4, new KryoSerializer(conf)).count());
      assertTrue(failed.getMessage().contains("no space: /spark-a-test"), failed::getMessage);
      application.spark().sc().cleaner().get().doCleanupShuffle(application.log().shuffle(), true);
      Eventually.holds("the space is free", () -> servers.usedBytes() == 0);
      NumbersJob.assertWhole(moved(application.spark()).collect());
    }
    servers.assertEmpty();
  }

  /** Starts an application that does not end by itself. */
  private static ChildProcess dying(Path directory) throws Exception {
    return ApplicationProgram.start(servers, "dying", "8s", directory, Path.of("/nonexistent"));
  }

  /** SIGKILL. Its executors end by themselves. */
  private static void killDriver(ChildProcess driver) throws Exception {
    List<ProcessHandle> started = driver.descendants();
    assertFalse(started.isEmpty());
    driver.kill();
    for (ProcessHandle each : started) {
      Eventually.holds("the end of executor " + each.pid(), () -> !each.isAlive());
    }
  }

  /** One ends, one is killed with SIGKILL, and the third keeps what it has. */
  @Test
  void applicationsDoNotTouchEachOther() throws Exception {
    SparkConf conf = conf().set("spark.crail.application.lease", "8s");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      JavaRDD<Integer> moved = moved(application.spark());
      NumbersJob.assertWhole(moved.collect());
      Path directory = Files.createTempDirectory(local, "drivers");
      Path end = directory.resolve("end");
      try (ChildProcess ending = ApplicationProgram.start(servers, "ending", "8s", directory, end);
          ChildProcess dying = dying(directory)) {
        ending.await("groups 10");
        dying.await("groups 10");
        assertEquals(List.of("a-test", "dying", "ending"), applications());
        Files.createFile(end);
        assertEquals(0, ending.awaitExit());
        ending.await("again 10");
        assertEquals(List.of("a-test", "dying"), applications());

        killDriver(dying);
      }
      Eventually.holds("the lease ends", () -> applications().equals(List.of("a-test")));
      NumbersJob.assertWhole(moved.collect());
      assertEquals(List.of(MAP_STAGE, RESULT_STAGE, RESULT_STAGE), application.log().stages());
    }
    servers.assertEmpty();
  }

  /** Its executor renews its roots; those of an application that is killed meanwhile go. */
  @Test
  void aDriverThatStandsStillLosesNothing() throws Exception {
    SparkConf conf = conf().set("spark.crail.application.lease", "8s");
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      NumbersJob.assertWhole(moved(application.spark()).collect());
      Path directory = Files.createTempDirectory(local, "drivers");
      Path end = directory.resolve("end");
      try (ChildProcess still = ApplicationProgram.start(servers, "still", "8s", directory, end);
          ChildProcess dying = dying(directory)) {
        still.await("groups 10");
        dying.await("groups 10");
        signal("-STOP", still.pid());
        try {
          killDriver(dying);
          Eventually.holds(
              "the lease of the killed one ends", () -> !applications().contains("dying"));
          // It would have ended at the same time.
          TimeUnit.SECONDS.sleep(8);
          assertEquals(List.of("a-test", "still"), applications());
        } finally {
          signal("-CONT", still.pid());
        }
        Files.createFile(end);
        still.await("again 10");
        assertEquals(0, still.awaitExit());
      }
    }
    servers.assertEmpty();
  }

  private static List<String> applications() throws Exception {
    try (CrailStore store = servers.store()) {
      return Broadcasts.children(store, "/").stream()
          .map(root -> root.replaceAll("/spark-([a-z-]+)-[0-9].*", "$1"))
          .distinct()
          .sorted()
          .toList();
    }
  }

  /** One task of a barrier stage fails when the other has sealed its output. */
  @Test
  void aBarrierStageThatFailsBeginsAnew() throws Exception {
    try (SparkApplication application = SparkApplication.start(conf(), EXECUTORS)) {
      StageLog log = application.log();
      Gate failing = Gate.closed(local);
      Function1<scala.collection.Iterator<Integer>, scala.collection.Iterator<Integer>> attempts =
          (Function1<scala.collection.Iterator<Integer>, scala.collection.Iterator<Integer>>
                  & Serializable)
              numbers ->
                  CollectionConverters.asScala(
                      attempts(CollectionConverters.asJava(numbers), failing));
      JavaRDD<Integer> source = application.spark().parallelize(List.of(1, 2, 3, 4), 2);
      RDD<Integer> barrier =
          source
              .rdd()
              .barrier()
              .mapPartitions(attempts, false, JavaSparkContext$.MODULE$.fakeClassTag());
      JavaFutureAction<List<Integer>> job =
          NumbersJob.moved(barrier.toJavaRDD().mapToPair(each -> new Tuple2<>(each, each)))
              .values()
              .collectAsync();
      log.awaitSucceeded(1);
      failing.open();
      // Each record says which attempt of the stage has made it.
      assertEquals(List.of(1, 1, 1, 1), SparkApplication.result(job));
      assertEquals(List.of("map 2", "map 2", RESULT_STAGE), log.stages());
    }
    servers.assertEmpty();
  }

  private static Iterator<Integer> attempts(Iterator<Integer> numbers, Gate failing) {
    List<Integer> attempts = new ArrayList<>();
    int attempt = TaskContext.get().stageAttemptNumber();
    numbers.forEachRemaining(number -> attempts.add(attempt));
    if (attempt == 0 && TaskContext.getPartitionId() == 1) {
      try {
        failing.pass();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      throw new IllegalStateException("the test");
    }
    return attempts.iterator();
  }

  /** Numbers in an order, and so in partitions, that another attempt of the stage changes. */
  private static JavaRDD<Integer> indeterminate(JavaSparkContext spark) throws Exception {
    return moved(spark)
        .mapPartitions(
            all -> {
              List<Integer> numbers = new ArrayList<>();
              all.forEachRemaining(numbers::add);
              Collections.rotate(numbers, TaskContext.get().stageAttemptNumber());
              return numbers.iterator();
            })
        .repartition(PARTITIONS);
  }

  /** Half of the tasks have read what the others cannot read any more. */
  private static void loseWhileReading(Gate read, int victim) throws Exception {
    read.await(EXECUTORS);
    servers.killDatanode(victim);
    read.open();
  }

  @Test
  void aLostOutputOfAnIndeterminateStageRepeatsAllOfIt() throws Exception {
    int victim = servers.startDatanode();
    try (SparkApplication application = SparkApplication.start(conf(), EXECUTORS)) {
      StageLog log = application.log();
      Gate read = Gate.closed(local);
      JavaRDD<Integer> once =
          NumbersJob.through(indeterminate(application.spark()), read)
              .mapToPair(number -> new Tuple2<>(number, number))
              .reduceByKey((a, b) -> -1, PARTITIONS)
              .values();
      JavaFutureAction<List<Integer>> job = once.collectAsync();
      loseWhileReading(read, victim);
      NumbersJob.assertWhole(SparkApplication.result(job));
      assertTrue(log.fetchFailures() > 0, log.stages()::toString);
    }
    servers.assertEmpty();
  }

  @Test
  void aHalfDoneResultOfAnIndeterminateStageIsAborted() throws Exception {
    int victim = servers.startDatanode();
    try (SparkApplication application = SparkApplication.start(conf(), EXECUTORS)) {
      Gate read = Gate.closed(local);
      JavaFutureAction<List<Integer>> job =
          NumbersJob.through(indeterminate(application.spark()), read).collectAsync();
      loseWhileReading(read, victim);
      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> SparkApplication.result(job));
      String message = failed.getCause().getMessage();
      assertTrue(message.contains("indeterminate output"), message);
    }
    servers.assertEmpty();
  }
}
