/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Values with small ones at the namenode; what they cost. */
@EachTier(and = Tier.NVMF)
@Tag("repeat")
class SmallKeyValueTest extends KeyValueContract {
  SmallKeyValueTest() {
    super("crail.namenode.smallvalue=1k");
  }

  private Map<String, Long> requests(SentRequests.Action action) throws Exception {
    return SentRequests.of(cluster(), store(), action);
  }

  @Test
  void aSmallPutAndASmallGetAreOneRequestEach() throws Exception {
    table("/counted");
    byte[] value = value(100, 1);
    assertEquals(
        Map.of("put", 1L), requests(() -> store().put("/counted/k", Bytes.buffer(value)).get()));
    assertEquals(
        Map.of("lookup", 1L),
        requests(() -> assertArrayEquals(value, get(store(), "/counted/k", 100))));
    // As programs of Apache Crail do it.
    assertEquals(
        Map.of("create", 1L, "set-size", 1L), requests(() -> write(store(), "/counted/k", value)));
    assertEquals(
        Map.of("lookup", 1L),
        requests(() -> assertArrayEquals(value, read(store(), "/counted/k"))));
    assertEquals(0, cluster().usage().usedBytes());
    // A second read asks whether the value is still there, and gets it with the answer.
    CrailKeyValue found = store().lookup("/counted/k").get().asKeyValue();
    assertArrayEquals(value, Bytes.read(found));
    assertEquals(
        Map.of("find-extents", 2L), requests(() -> assertArrayEquals(value, Bytes.read(found))));
    store().delete("/counted", true).get();
  }

  @Test
  void aSmallValueIsReadInPartsWithoutAskingForLocationsAhead() throws Exception {
    table("/parts");
    byte[] value = value(100, 1);
    store().put("/parts/k", Bytes.buffer(value)).get();
    CrailInputStream[] input = new CrailInputStream[1];
    assertEquals(
        Map.of("lookup", 1L),
        requests(
            () -> {
              CrailKeyValue found = store().lookup("/parts/k").get().asKeyValue();
              input[0] = found.getDirectInputStream(value.length);
              assertArrayEquals(Arrays.copyOf(value, 10), Bytes.read(input[0], 10));
            }));
    // Whether it is still there, and its bytes.
    assertEquals(
        Map.of("find-extents", 6L),
        requests(
            () -> {
              for (int i = 1; i < 4; i++) {
                byte[] part = Bytes.read(input[0], 10);
                assertArrayEquals(Arrays.copyOfRange(value, 10 * i, 10 * i + 10), part);
              }
            }));
    input[0].close();
    store().delete("/parts", true).get();
  }

  @Test
  void aLargerPutGetsItsSpaceAtOnceAndAGetOnlyLooksUp() throws Exception {
    table("/counted");
    byte[] value = value(100_000, 1);
    assertEquals(
        Map.of("put", 1L, "set-size", 1L),
        requests(() -> store().put("/counted/k", Bytes.buffer(value)).get()));
    assertEquals(
        Map.of("lookup", 1L),
        requests(() -> assertArrayEquals(value, get(store(), "/counted/k", value.length))));
    byte[] shorter = value(3_000, 1);
    write(store(), "/counted/k", shorter);
    // The next one is expected to be as long.
    assertEquals(
        Map.of("create", 1L, "set-size", 1L),
        requests(() -> write(store(), "/counted/k", shorter)));
    store().delete("/counted", true).get();
  }

  @Test
  void aShortValueOccupiesNoMoreForALongOneBefore() throws Exception {
    table("/occupied");
    TestCluster.await("space is free", () -> cluster().usage().usedBytes() == 0);
    write(store(), "/occupied/long", value(1 << 20, 1));
    long used = cluster().usage().usedBytes();
    write(store(), "/occupied/short", value(3_000, 1));
    assertEquals(used + 4096, cluster().usage().usedBytes());
    write(store(), "/occupied/again", value(3_000, 1));
    assertEquals(used + 2 * 4096, cluster().usage().usedBytes());
    write(store(), "/occupied/small", value(100, 1));
    assertEquals(used + 2 * 4096, cluster().usage().usedBytes());
    store().delete("/occupied", true).get();
    TestCluster.await("space is free", () -> cluster().usage().usedBytes() == 0);
  }

  @Test
  void heldBytesAreWrittenTogetherForAnyBufferSize() throws Exception {
    byte[] all = value(15_000, 1);
    try (TestCluster wide = TestCluster.start(tier(), 1, 1, "crail.namenode.smallvalue=32k")) {
      CrailStore first = wide.newStore();
      Bytes.create(first, "/wide", CrailNodeType.TABLE);
      first.put("/wide/k", Bytes.buffer(Arrays.copyOf(all, 10_000))).get();
      assertEquals(0, wide.usage().usedBytes());
      CrailStore narrow =
          wide.newStore("crail.buffersize=4k", "crail.slicesize=4k", "crail.cachelimit=8k");
      CrailKeyValue found = narrow.lookup("/wide/k").get().asKeyValue();
      CrailOutputStream output = found.getDirectOutputStream(0);
      output.write(Bytes.buffer(Arrays.copyOfRange(all, 10_000, 12_000))).get();
      output.write(Bytes.buffer(Arrays.copyOfRange(all, 12_000, 15_000))).get();
      output.close();
      assertArrayEquals(all, get(first, "/wide/k", all.length));
    }
  }
}
