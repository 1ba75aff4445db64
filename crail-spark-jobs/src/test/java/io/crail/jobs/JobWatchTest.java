/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import scala.Tuple2;

/** With executors in processes of their own, which take seconds to start. */
@Tag("once")
class JobWatchTest {
  private static final int EXECUTORS = 2;
  private static final int TASKS = 6;
  private static final int ROWS = 60 * TASKS;
  private static final int POLL_MILLIS = 20;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path directory;

  @AfterEach
  void end() {
    JobProgram.endChildren();
  }

  /** Spark is here as single jars, so executors get this class path, and an empty home. */
  private SparkConf conf() throws IOException {
    Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    return new SparkConf(false)
        .setMaster("local-cluster[" + EXECUTORS + ",1,1024]")
        .setAppName("A test")
        .set(
            "spark.executor.extraClassPath",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")))
        .set("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .set("spark.scheduler.maxRegisteredResourcesWaitingTime", "60s")
        .set("spark.local.dir", directory.toString())
        .set("spark.ui.enabled", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1");
  }

  /** A shuffle whose reducers wait for a file. */
  private static long rows(JavaSparkContext context, Path proceed) {
    String file = proceed.toString();
    return context
        .parallelize(Collections.nCopies(ROWS / TASKS, TASKS), TASKS)
        .flatMapToPair(
            many ->
                Stream.iterate(0, i -> i + 1)
                    .limit(many)
                    .map(i -> new Tuple2<>(i, many))
                    .iterator())
        .groupByKey(TASKS)
        .mapPartitions(
            groups -> {
              await(Path.of(file));
              return groups;
            })
        .map(group -> rows(group._2()))
        .reduce(Long::sum);
  }

  private static long rows(Iterable<?> group) {
    long rows = 0;
    for (Object row : group) {
      rows++;
    }
    return rows;
  }

  private static void await(Path file) throws InterruptedException, TimeoutException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!Files.exists(file)) {
      if (System.nanoTime() - deadline > 0) {
        throw new TimeoutException("no executor was killed");
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  @Test
  void mapsOfAKilledExecutorRunAgain() throws Exception {
    Path killed = directory.resolve("killed");
    JobWatch watch = new JobWatch(1);
    try (JavaSparkContext context = new JavaSparkContext(conf())) {
      context.sc().addSparkListener(watch);
      context
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
                  try {
                    Files.write(killed, new byte[0]);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }
              });
      assertEquals(ROWS, context.parallelize(Collections.nCopies(ROWS, 1), TASKS).count());
      watch.begin();
      assertEquals(ROWS, rows(context, killed));
    }
    assertEquals(1, watch.killed());
    assertTrue(watch.mapsAgain() > 0, watch.stages()::toString);
    List<String> names = watch.stages().stream().map(JobWatch.Stage::name).toList();
    assertTrue(names.get(0).matches("\\d+-flatMapToPair"), names::toString);
    assertTrue(names.stream().anyMatch(name -> name.endsWith("-attempt-2")), names::toString);
    watch.stages().forEach(stage -> assertTrue(stage.beginMillis() <= stage.endMillis()));
  }
}
