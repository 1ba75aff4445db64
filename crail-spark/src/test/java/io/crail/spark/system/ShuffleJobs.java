/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.JavaSparkContext$;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.Serializer;
import scala.Tuple2;
import scala.reflect.ClassTag;

/** Jobs whose result has a line for each record, which says where it came out. */
enum ShuffleJobs {
  /** Records of up to two kilobytes, and empty ones. */
  RECORDS {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      return lines(moved(records(spark, 6, 300, 2000), 13, serializer));
    }
  },

  /** Records of megabytes that cannot be compressed; two blocks of more than 8 MiB. */
  LARGE {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      List<Integer> mebibytes = List.of(1, 9, 2, 10, 1, 3);
      JavaPairRDD<Integer, byte[]> large =
          spark
              .parallelize(mebibytes, 2)
              .mapToPair(
                  each -> {
                    byte[] bytes = new byte[each << 20];
                    new SplittableRandom(each).nextBytes(bytes);
                    return new Tuple2<>(each, bytes);
                  });
      return lines(moved(large, 5, serializer));
    }
  },

  /** Map outputs without a record, and partitions without one. */
  EMPTY {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      JavaPairRDD<Integer, byte[]> few =
          records(spark, 8, 40, 100).filter(each -> each._1() % 2 == 0 && each._1() < 40);
      List<String> lines = new ArrayList<>(lines(moved(few, 61, serializer)));
      lines.addAll(lines(moved(few.filter(each -> false), 7, serializer)));
      return lines;
    }
  },

  /** Records that map tasks combine. */
  COMBINED {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      return lines(
          records(spark, 6, 2000, 100)
              .mapValues(bytes -> (long) bytes.length)
              .combineByKey(
                  each -> each, Long::sum, Long::sum, new HashPartitioner(5), true, serializer)
              .mapValues(sum -> ("sum " + sum).getBytes()));
    }
  },

  /** Records that reduce tasks sort, in the order in which they come out. */
  SORTED {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      Comparator<Integer> order = Comparator.reverseOrder();
      return records(spark, 5, 500, 50)
          .repartitionAndSortWithinPartitions(new HashPartitioner(4), order)
          .keys()
          .mapPartitionsWithIndex(numbered(), false)
          .collect();
    }
  },

  /** Two shuffles that one stage reads. */
  JOINED {
    @Override
    List<String> run(JavaSparkContext spark, Serializer serializer) {
      JavaPairRDD<Integer, byte[]> left = records(spark, 4, 200, 300);
      return lines(
          left.join(records(spark, 3, 100, 30), 6)
              .mapValues(both -> (checksum(both._1()) + " " + checksum(both._2())).getBytes()));
    }
  };

  private static final int KEYS = 400;

  /** Runs it; jobs that combine, sort or join have the context's own serializer in part. */
  abstract List<String> run(JavaSparkContext spark, Serializer serializer);

  /** {@return the results under Spark's own shuffle, of all jobs} */
  static Map<ShuffleJobs, List<String>> expected() {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("Spark's own shuffle")
            .set("spark.ui.enabled", "false")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1");
    Map<ShuffleJobs, List<String>> results = new EnumMap<>(ShuffleJobs.class);
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Serializer serializer = new JavaSerializer(conf);
      for (ShuffleJobs job : values()) {
        results.put(job, job.run(spark, serializer));
      }
    }
    return results;
  }

  /** Bytes of a length up to a limit, compressible by half, always the same for a seed. */
  private static byte[] bytes(long seed, int limit) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] half = new byte[random.nextInt(limit) / 2];
    random.nextBytes(half);
    return Arrays.copyOf(half, 2 * half.length);
  }

  private static JavaPairRDD<Integer, byte[]> records(
      JavaSparkContext spark, int maps, int each, int limit) {
    return spark
        .parallelize(IntStream.range(0, maps).boxed().toList(), maps)
        .flatMapToPair(
            map ->
                IntStream.range(map * each, (map + 1) * each)
                    .mapToObj(i -> new Tuple2<>(i % KEYS, bytes(i, limit)))
                    .iterator());
  }

  /** The records after a shuffle without aggregation. */
  static <V> JavaPairRDD<Integer, V> moved(
      JavaPairRDD<Integer, V> pairs, int partitions, Serializer serializer) {
    ClassTag<Integer> key = JavaSparkContext$.MODULE$.fakeClassTag();
    ClassTag<V> value = JavaSparkContext$.MODULE$.fakeClassTag();
    ShuffledRDD<Integer, V, V> moved =
        new ShuffledRDD<>(pairs.rdd(), new HashPartitioner(partitions), key, value, value);
    return JavaPairRDD.fromRDD(moved.setSerializer(serializer), key, value);
  }

  private static List<String> lines(JavaPairRDD<Integer, byte[]> records) {
    List<String> lines =
        new ArrayList<>(
            records
                .mapPartitionsWithIndex(
                    (Function2<Integer, Iterator<Tuple2<Integer, byte[]>>, Iterator<String>>)
                        (partition, all) -> lines(partition, all),
                    false)
                .collect());
    Collections.sort(lines);
    return lines;
  }

  private static Iterator<String> lines(int partition, Iterator<Tuple2<Integer, byte[]>> records) {
    List<String> lines = new ArrayList<>();
    records.forEachRemaining(
        each ->
            lines.add(
                partition + ": " + each._1() + " " + each._2().length + " " + checksum(each._2())));
    return lines.iterator();
  }

  private static Function2<Integer, Iterator<Integer>, Iterator<String>> numbered() {
    return (partition, keys) -> {
      List<String> lines = new ArrayList<>();
      keys.forEachRemaining(key -> lines.add(partition + "." + lines.size() + ": " + key));
      return lines.iterator();
    };
  }

  private static long checksum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return crc.getValue();
  }
}
