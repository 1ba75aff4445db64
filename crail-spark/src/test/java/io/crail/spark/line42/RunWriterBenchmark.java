/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import io.crail.embedded.EmbeddedCrail;
import io.crail.spark.SparkOnCrail;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import scala.Tuple2;

/**
 * Compares the writers in one shuffle: the time of its map stage, which writes, and of its result
 * stage, which reads. The rounds take turns; the medians are printed. A program of its own, which
 * needs the options of the JVM that Spark needs. Arguments: rounds, MiB, bytes of a record, map
 * tasks, partitions, and settings of Spark as {@code key=value}.
 */
final class RunWriterBenchmark {
  private static final int COLUMNS = 7;

  private final int megabytes;
  private final int recordBytes;
  private final int maps;
  private final int partitions;
  private final List<String> settings;
  private final SparkOnCrail crail;
  private final Path local;

  private RunWriterBenchmark(String[] arguments, SparkOnCrail crail, Path local) {
    this.megabytes = Integer.parseInt(arguments[1]);
    this.recordBytes = Integer.parseInt(arguments[2]);
    this.maps = Integer.parseInt(arguments[3]);
    this.partitions = Integer.parseInt(arguments[4]);
    this.settings = Arrays.asList(arguments).subList(5, arguments.length);
    this.crail = crail;
    this.local = local;
  }

  public static void main(String[] arguments) throws Exception {
    Path local = Files.createTempDirectory(Path.of("/dev/shm"), "spark");
    try (SparkOnCrail crail = new SparkOnCrail(EmbeddedCrail.builder(), 3L << 30)) {
      new RunWriterBenchmark(arguments, crail, local).run(Integer.parseInt(arguments[0]));
    } finally {
      try (Stream<Path> files = Files.walk(local)) {
        for (Path file : files.sorted((one, other) -> other.compareTo(one)).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private SparkConf conf() {
    SparkConf conf = crail.conf("local[2]", local);
    conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    for (String setting : settings) {
      conf.set(
          setting.substring(0, setting.indexOf('=')), setting.substring(setting.indexOf('=') + 1));
    }
    return conf;
  }

  private void run(int rounds) throws Exception {
    Map<String, SparkConf> kinds = new LinkedHashMap<>();
    kinds.put("Crail, own writer", conf());
    kinds.put("Crail, Spark's writer", conf().set("spark.crail.shuffle.writer", "spark"));
    kinds.put("Spark on /dev/shm", conf().set("spark.shuffle.manager", "sort"));
    Map<String, List<long[]>> times = new LinkedHashMap<>();
    for (int round = -1; round < rounds; round++) {
      for (Map.Entry<String, SparkConf> kind : kinds.entrySet()) {
        long[] millis = shuffle(kind.getValue());
        if (round >= 0) {
          times.computeIfAbsent(kind.getKey(), key -> new ArrayList<>()).add(millis);
        }
        System.out.printf("%d %s %s%n", round, kind.getKey(), Arrays.toString(millis));
      }
    }
    System.out.println(
        "medians: ms of map stage, result stage, both; ms of processor in each; ms in the store; MiB"
            + " spilled");
    times.forEach(
        (kind, all) -> {
          StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-24s", kind));
          for (int i = 0; i < COLUMNS; i++) {
            line.append(String.format(Locale.ROOT, " %6d", median(all, i)));
          }
          System.out.println(line);
        });
  }

  private static long median(List<long[]> all, int column) {
    long[] sorted = all.stream().mapToLong(each -> each[column]).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private long[] shuffle(SparkConf conf) {
    AtomicLong[] results =
        Stream.generate(AtomicLong::new).limit(COLUMNS).toArray(AtomicLong[]::new);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      spark
          .sc()
          .addSparkListener(
              new SparkListener() {
                @Override
                public void onStageCompleted(SparkListenerStageCompleted event) {
                  var stage = event.stageInfo();
                  var metrics = stage.taskMetrics();
                  long millis =
                      (long) stage.completionTime().get() - (long) stage.submissionTime().get();
                  int reads = metrics.shuffleWriteMetrics().bytesWritten() > 0 ? 0 : 1;
                  results[reads].addAndGet(millis);
                  results[2].addAndGet(millis);
                  results[3 + reads].addAndGet(metrics.executorCpuTime() / 1_000_000);
                  results[5].addAndGet(metrics.shuffleWriteMetrics().writeTime() / 1_000_000);
                  results[6].addAndGet(metrics.memoryBytesSpilled() >> 20);
                }
              });
      int bytes = recordBytes;
      int count = (int) (((long) megabytes << 20) / recordBytes / maps);
      List<Integer> seeds = Stream.iterate(1, seed -> seed + 1).limit(maps).toList();
      JavaPairRDD<Integer, byte[]> records =
          spark.parallelize(seeds, maps).flatMapToPair(seed -> records(seed, count, bytes));
      long read =
          records
              .partitionBy(new HashPartitioner(partitions))
              .mapPartitions(each -> List.of(count(each)).iterator())
              .reduce(Long::sum);
      if (read != (long) count * maps) {
        throw new IllegalStateException(read + " records");
      }
    }
    return Arrays.stream(results).mapToLong(AtomicLong::get).toArray();
  }

  private static long count(Iterator<?> records) {
    long count = 0;
    while (records.hasNext()) {
      records.next();
      count++;
    }
    return count;
  }

  /** Records that are computed fast, and of which a compressor makes about a half. */
  private static Iterator<Tuple2<Integer, byte[]>> records(int seed, int count, int bytes) {
    Random random = new Random(seed);
    byte[] noise = new byte[(1 << 20) + bytes];
    random.nextBytes(noise);
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < count;
      }

      @Override
      public Tuple2<Integer, byte[]> next() {
        next++;
        byte[] value = new byte[bytes];
        int key = next * 0x9E3779B9 + seed;
        System.arraycopy(noise, key >>> 12, value, 0, bytes / 2);
        return new Tuple2<>(key, value);
      }
    };
  }
}
