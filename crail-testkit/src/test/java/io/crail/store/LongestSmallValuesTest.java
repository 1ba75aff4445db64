/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What values cost on both sides of the highest limit of small ones. */
@EachTier
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LongestSmallValuesTest implements EachTier.Shared {
  private static final int LIMIT = 64 << 10;
  private static final int[] LENGTHS = {4095, 4096, 4097, LIMIT - 1, LIMIT, LIMIT + 1};

  private TestCluster cluster;
  private CrailStore store;

  @Override
  public void start(Tier tier) throws Exception {
    cluster = TestCluster.start(tier, 1, 1, "crail.namenode.smallvalue=64k");
    store = cluster.newStore();
    Bytes.create(store, "/t", CrailNodeType.TABLE);
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  private static byte[] value(int length, int seed) {
    return KeyValueContract.value(length, seed);
  }

  private long requests(Operation<?, ?> operation) throws Exception {
    return cluster.operations(operation);
  }

  @Test
  void aPutAndAGetAreOneRequestUpToTheLimit() throws Exception {
    for (int length : LENGTHS) {
      byte[] value = value(length, length);
      long puts = requests(NameNodeOperations.PUT);
      long closes = requests(NameNodeOperations.SET_SIZE);
      store.put("/t/k", Bytes.buffer(value)).get();
      assertEquals(1, requests(NameNodeOperations.PUT) - puts);
      assertEquals(length > LIMIT ? 1 : 0, requests(NameNodeOperations.SET_SIZE) - closes);
      assertEquals(length > LIMIT, cluster.usage().usedBytes() > 0);
      long lookups = requests(NameNodeOperations.LOOKUP);
      assertArrayEquals(value, KeyValueContract.get(store, "/t/k", length));
      assertEquals(1, requests(NameNodeOperations.LOOKUP) - lookups);
    }
    store.delete("/t/k", false).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aStreamHoldsItsBytesBackUpToTheLimit() throws Exception {
    for (int length : LENGTHS) {
      byte[] value = value(length, length);
      CrailOutputStream output = KeyValueContract.create(store, "/t/s").getDirectOutputStream(0);
      for (int at = 0; at < length; at += 1000) {
        int end = Math.min(length, at + 1000);
        output.write(Bytes.buffer(Arrays.copyOfRange(value, at, end))).get();
      }
      assertEquals(length > LIMIT, cluster.usage().usedBytes() > 0, length + " bytes");
      output.close();
      assertArrayEquals(value, KeyValueContract.get(store, "/t/s", length));
      store.delete("/t/s", false).get();
      TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
    }
  }

  @Test
  void manyOfTheLongestAreUnderWayAtOnce() throws Exception {
    List<Upcoming<CrailKeyValue>> puts = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      puts.add(store.put("/t/" + i, Bytes.buffer(value(LIMIT - i % 3, i))));
    }
    for (Upcoming<CrailKeyValue> put : puts) {
      put.get();
    }
    for (int i = 0; i < 100; i++) {
      assertArrayEquals(
          value(LIMIT - i % 3, i), KeyValueContract.get(store, "/t/" + i, LIMIT), "value " + i);
    }
    assertEquals(0, cluster.usage().usedBytes());
  }
}
