/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.Serializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Results under Spark's own shuffle and under Crail's, record by record. */
@Tag("once")
@EnabledIfSystemProperty(named = "crail.test.long", matches = "true")
class SparkResultsTest {
  private static final int EXECUTORS = 2;

  @TempDir private static Path local;
  private static Map<ShuffleJobs, List<String>> expected;
  private static CrailServers servers;

  @BeforeAll
  static void start() throws Exception {
    servers = CrailServers.start(2, 2, "128m");
    expected = ShuffleJobs.expected();
  }

  @AfterAll
  static void stop() throws Exception {
    if (servers != null) {
      servers.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "KryoSerializer,lz4,false,auto,false",
    "KryoSerializer,zstd,false,auto,true",
    "KryoSerializer,lz4,true,auto,true",
    "KryoSerializer,zstd,false,spark,false",
    "KryoSerializer,zstd,true,spark,false",
    "JavaSerializer,lz4,true,spark,true",
    "JavaSerializer,zstd,false,auto,false",
    "JavaSerializer,lz4,false,spark,true",
  })
  void areTheSame(String serializer, String codec, String encrypted, String writer, boolean mapped)
      throws Exception {
    String name = "org.apache.spark.serializer." + serializer;
    SparkConf conf =
        SparkApplication.conf(servers, SparkApplication.localCluster(EXECUTORS), local)
            .set("spark.serializer", name)
            .set("spark.io.compression.codec", codec)
            .set("spark.io.encryption.enabled", encrypted)
            .set("spark.crail.shuffle.writer", writer)
            .set("spark.crail.storage.localmap", String.valueOf(mapped));
    try (SparkApplication application = SparkApplication.start(conf, EXECUTORS)) {
      Serializer own =
          (Serializer) Class.forName(name).getConstructor(SparkConf.class).newInstance(conf);
      for (ShuffleJobs job : ShuffleJobs.values()) {
        assertEquals(expected.get(job), job.run(application.spark(), own), job.name());
      }
      assertEquals(mapped, application.maps(servers));
    }
    servers.assertEmpty();
  }
}
