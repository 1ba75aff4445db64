/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.embedded.EmbeddedCrail;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.GlobalStorageStatistics;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spark reads and writes Parquet through a cache of a slow file system. */
@Tag("once")
class CachedParquetTest {
  private static final int ROWS = 100_000;
  private static final String CACHE = "crailcache://lake";

  @TempDir Path local;

  private static Dataset<Row> table(SparkSession spark, int seed) {
    return spark
        .range(0, ROWS, 1, 4)
        .selectExpr("id", "id % 97 AS k", "sha1(string(id + " + seed + ")) AS text");
  }

  /** All files look as if they were made long ago: what is new is not cached. */
  private void age(Path directory) throws Exception {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path each : (Iterable<Path>) files::iterator) {
        Files.setLastModifiedTime(each, FileTime.fromMillis(1_000_000_000_000L));
      }
    }
  }

  /** All columns of some rows, and two columns of all. */
  private static List<Row> query(SparkSession spark, String path) {
    Dataset<Row> rows = spark.read().parquet(path);
    Dataset<Row> few = rows.where("id % 30011 = 5").selectExpr("k", "id AS n", "text");
    return rows.groupBy("k")
        .count()
        .selectExpr("k", "count AS n", "'all' AS text")
        .union(few)
        .orderBy("k", "n")
        .collectAsList();
  }

  private static long count(String counter) {
    return GlobalStorageStatistics.INSTANCE.get("CrailCache " + CACHE).getLong(counter);
  }

  @Test
  void aTableIsReadFromTheSourceOnce() throws Exception {
    String plain = "file://" + local.resolve("lake/table");
    String cached = CACHE + "/table";
    try (EmbeddedCrail crail = EmbeddedCrail.builder().storage(256 << 20).start();
        SparkSession spark =
            SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.local.dir", local.toString())
                .config("spark.sql.warehouse.dir", local.resolve("warehouse").toString())
                .config("spark.sql.shuffle.partitions", "2")
                .config(
                    "spark.hadoop.crail.namenode.address",
                    crail.configuration().texts().get("crail.namenode.address"))
                .config("spark.hadoop.fs.crail.site.file", "")
                .config("spark.hadoop.crail.cache.source.lake", "file://" + local.resolve("lake"))
                .config("spark.hadoop.crail.cache.timeout", "60s")
                .config("spark.hadoop.crail.cache.statusage", "60m")
                .config("spark.hadoop.crail.cache.blocksize", "64k")
                // Less than the table: most of it comes from Crail.
                .config("spark.hadoop.crail.cache.memory", "512k")
                .getOrCreate();
        FileSystem cache =
            FileSystem.get(URI.create(CACHE), spark.sparkContext().hadoopConfiguration())) {
      table(spark, 1).write().parquet(plain);
      age(local.resolve("lake/table"));
      List<Row> expected = query(spark, plain);
      assertEquals(expected, query(spark, cached));
      assertTrue(count("loads") > 0);
      long source = count("source_bytes");
      assertEquals(expected, query(spark, cached));
      assertTrue(count("hits") > 0, "hits " + count("hits"));
      assertEquals(0, count("failures"));
      // What had no memory on its way to Crail is loaded now.
      query(spark, cached);
      assertTrue(count("source_bytes") < 2 * source, source + ", now " + count("source_bytes"));

      table(spark, 2).write().mode(SaveMode.Overwrite).parquet(cached);
      List<Row> changed = query(spark, cached);
      assertEquals(query(spark, plain), changed);
      assertEquals(expected.size(), changed.size());
      assertNotEquals(expected, changed);
      assertTrue(cache.exists(new org.apache.hadoop.fs.Path(cached)));
    }
  }
}
