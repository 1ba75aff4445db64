/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.config.ConfigException;
import io.crail.spark.broadcast.CorruptValueException;
import io.crail.spark.broadcast.CrailBroadcastException;
import java.io.NotSerializableException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CrailBroadcastTest extends WithPlugin {
  private static List<Integer> hashes(JavaSparkContext spark, CrailBroadcast<byte[]> broadcast) {
    return spark
        .parallelize(Collections.nCopies(8, 0), 8)
        .map(i -> Arrays.hashCode(broadcast.value()))
        .collect();
  }

  private static void assertRead(
      JavaSparkContext spark, CrailBroadcast<byte[]> broadcast, byte[] value) {
    assertEquals(Collections.nCopies(8, Arrays.hashCode(value)), hashes(spark, broadcast));
  }

  @ParameterizedTest
  @ValueSource(strings = {"JavaSerializer", "KryoSerializer"})
  void aProcessReadsAValueOnceWhenItIsAskedFor(String serializer) throws Exception {
    SparkConf conf = conf().set("spark.serializer", "org.apache.spark.serializer." + serializer);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      for (int length : new int[] {128, LARGE}) {
        byte[] value = Broadcasts.bytes(length);
        CrailBroadcast<byte[]> broadcast = CrailBroadcast.of(spark.sc(), value);
        String path = Broadcasts.files(store).get(0);
        long before = Broadcasts.bytesRead();
        assertRead(spark, broadcast, value);
        assertArrayEquals(value, broadcast.value());
        assertEquals(store.lookup(path).get().getCapacity(), Broadcasts.bytesRead() - before, path);
        broadcast.unpersist();
        assertRead(spark, broadcast, value);
        broadcast.destroy();
        assertEquals(List.of(), Broadcasts.files(store));
      }
    }
  }

  /** The shuffle manager alone gives each process a store as well. */
  @Test
  void theShuffleManagerIsEnough() throws Exception {
    SparkConf conf = crail.conf("local[4]", local);
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      byte[] value = Broadcasts.bytes(LARGE);
      assertRead(spark, CrailBroadcast.of(spark, value), value);
    }
  }

  @Test
  void withoutAnyItIsRefused() throws Exception {
    SparkConf conf = crail.conf("local[4]", local).remove("spark.shuffle.manager");
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      assertThrows(ConfigException.class, () -> CrailBroadcast.of(spark, "value"));
    }
  }

  @Test
  void plainBytesAreRefusedWhereSparkEncrypts() throws Exception {
    SparkConf conf = conf().set("spark.io.encryption.enabled", "true");
    try (JavaSparkContext spark = SparkOnCrail.context(conf)) {
      assertThrows(ConfigException.class, () -> CrailBroadcast.of(spark, "value"));
      assertEquals(List.of(), Broadcasts.children(store, "/"));
    }
  }

  @Test
  void aDestroyedValueFailsAsABroadcast() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      CrailBroadcast<byte[]> broadcast = CrailBroadcast.of(spark, Broadcasts.bytes(LARGE));
      store.delete(Broadcasts.files(store).get(0), false).get();
      CrailBroadcastException error = assertThrows(CrailBroadcastException.class, broadcast::value);
      assertTrue(error.getMessage().contains("was destroyed"), error::getMessage);
      assertThrows(SparkException.class, () -> hashes(spark, broadcast));
      broadcast.destroy();
      assertThrows(SparkException.class, broadcast::value);
    }
  }

  @Test
  void aCorruptValueIsNotKept() throws Exception {
    try (JavaSparkContext spark = SparkOnCrail.context(conf())) {
      byte[] value = Broadcasts.bytes(LARGE);
      CrailBroadcast<byte[]> broadcast = CrailBroadcast.of(spark, value);
      String path = Broadcasts.files(store).get(0);
      byte[] content = Broadcasts.content(store, path);
      byte[] wrong = content.clone();
      wrong[100] ^= 1;
      Broadcasts.replace(store, path, wrong);
      CrailBroadcastException error = assertThrows(CrailBroadcastException.class, broadcast::value);
      assertInstanceOf(CorruptValueException.class, error.getCause());
      Broadcasts.replace(store, path, content);
      assertRead(spark, broadcast, value);
    }
  }

  @Test
  void aValueThatCannotBeStoredIsAnErrorAndLeavesNothing() throws Exception {
    JavaSparkContext spark = SparkOnCrail.context(conf());
    CrailBroadcastException error =
        assertThrows(
            CrailBroadcastException.class,
            () -> CrailBroadcast.of(spark, List.of(Broadcasts.bytes(LARGE), new Object())));
    assertInstanceOf(NotSerializableException.class, error.getCause());
    spark.close();
    assertThrows(IllegalStateException.class, () -> CrailBroadcast.of(spark, "value"));
  }
}
