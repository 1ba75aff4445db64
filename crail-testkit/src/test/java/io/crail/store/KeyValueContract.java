/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.CrailTable;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.StaleNodeException;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What values in tables promise, wherever their bytes lie. Each place adds a subclass. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class KeyValueContract implements EachTier.Shared {
  private static final int[] LENGTHS = {
    0, 1, 4, 64, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1 << 20, 2_500_000
  };

  private Tier tier;
  private final String[] settings;
  private TestCluster cluster;
  private CrailStore store;
  private CrailStore other;

  /**
   * For subclasses.
   *
   * @param settings what says where the bytes lie
   */
  KeyValueContract(String... settings) {
    this.settings = settings;
  }

  final Tier tier() {
    return tier;
  }

  final TestCluster cluster() {
    return cluster;
  }

  final CrailStore store() {
    return store;
  }

  @Override
  public void start(Tier tier) throws Exception {
    this.tier = tier;
    cluster = TestCluster.start(tier, 2, 1, settings);
    store = cluster.newStore();
    other = cluster.newStore();
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  static byte[] value(int length, int seed) {
    return Bytes.random(new Random(seed), length);
  }

  final CrailTable table(String path) throws Exception {
    Bytes.create(store, path, CrailNodeType.TABLE);
    return store.lookup(path).get().asTable();
  }

  static CrailKeyValue create(CrailStore at, String path) throws Exception {
    return at.create(
            path, CrailNodeType.KEYVALUE, CrailStorageClass.PARENT, CrailLocationClass.PARENT, true)
        .get()
        .asKeyValue();
  }

  static CrailKeyValue write(CrailStore at, String path, byte[] value) throws Exception {
    CrailKeyValue made = create(at, path);
    CrailOutputStream output = made.getDirectOutputStream(0);
    output.write(Bytes.buffer(value)).get();
    output.close();
    return made;
  }

  static byte[] read(CrailStore at, String path) throws Exception {
    return Bytes.read(at.lookup(path).get().asKeyValue());
  }

  /** The value as {@code get} gives it; null when there is none. */
  static byte[] get(CrailStore at, String path, int room) throws Exception {
    CrailBuffer buffer = Bytes.empty(room + 3);
    buffer.position(3);
    CrailResult result = at.get(path, buffer).get();
    if (result == null) {
      return null;
    }
    assertEquals(3, buffer.position());
    buffer.position(3 + (int) result.getLen());
    byte[] all = Bytes.bytesOf(buffer);
    return Arrays.copyOfRange(all, 3, all.length);
  }

  private static ErrorCode failure(Future<?> future) throws InterruptedException {
    ExecutionException failed = assertThrows(ExecutionException.class, future::get);
    return assertInstanceOf(CrailException.class, failed.getCause()).code();
  }

  @Test
  void valuesOfAllLengthsComeBackAsTheyWere() throws Exception {
    CrailTable table = table("/lengths");
    for (int length : LENGTHS) {
      byte[] value = value(length, length);
      CrailBuffer buffer = Bytes.buffer(value, 5);
      CrailKeyValue put = table.put("put", buffer).get();
      assertEquals(buffer.limit(), buffer.position());
      assertEquals("/lengths/put", put.getPath());
      assertEquals(length, put.getCapacity());
      write(store, "/lengths/written", value);
      for (String path : new String[] {"/lengths/put", "/lengths/written"}) {
        assertArrayEquals(value, read(store, path), path + " " + length);
        assertArrayEquals(value, read(other, path), path + " " + length);
        assertArrayEquals(value, get(other, path, length), path + " " + length);
        assertArrayEquals(value, get(store, path, length + 100), path + " " + length);
      }
      assertArrayEquals(value, Bytes.read(put));
    }
    assertEquals(2, table.files());
    store.delete("/lengths", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void bufferedStreamsSeeTheSame() throws Exception {
    table("/buffered");
    for (int length : LENGTHS) {
      byte[] value = value(length, length);
      CrailKeyValue made = create(store, "/buffered/k");
      try (CrailBufferedOutputStream output = made.getBufferedOutputStream(length / 2)) {
        output.write(value, 0, length / 3);
        output.write(value, length / 3, length - length / 3);
      }
      assertEquals(length, made.getCapacity());
      CrailKeyValue found = other.lookup("/buffered/k").get().asKeyValue();
      try (CrailBufferedInputStream input = found.getBufferedInputStream(0)) {
        assertArrayEquals(value, input.readAllBytes());
      }
      try (CrailBufferedInputStream input = made.getBufferedInputStream(length)) {
        assertArrayEquals(value, input.readAllBytes());
      }
    }
    store.delete("/buffered", true).get();
  }

  @Test
  void manyPutsAndGetsAreUnderWayAtOnce() throws Exception {
    CrailTable table = table("/many");
    Random random = new Random(1);
    List<byte[]> values = new ArrayList<>();
    List<Upcoming<CrailKeyValue>> puts = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      byte[] value = value(random.nextInt(8) == 0 ? random.nextInt(20_000) : 1 + i, i);
      values.add(value);
      puts.add(table.put("k" + i, Bytes.buffer(value)));
    }
    for (Upcoming<CrailKeyValue> put : puts) {
      put.get();
    }
    List<CrailBuffer> buffers = new ArrayList<>();
    List<Upcoming<CrailResult>> gets = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      buffers.add(Bytes.empty(20_000));
      gets.add(table.get("k" + i, buffers.get(i)));
    }
    for (int i = 0; i < values.size(); i++) {
      buffers.get(i).position((int) gets.get(i).get().getLen());
      assertArrayEquals(values.get(i), Bytes.bytesOf(buffers.get(i)));
    }
    store.delete("/many", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void putsThatFollowEachOtherComeBackAsTheyWere() throws Exception {
    CrailTable table = table("/sequence");
    int seed = 0;
    for (int length : new int[] {1 << 20, 5000, 65_536, 70_000}) {
      for (int i = 0; i < 6; i++) {
        byte[] value = value(length - i, seed++);
        CrailKeyValue put = table.put("k", Bytes.buffer(value)).get();
        assertEquals(value.length, put.getCapacity());
        assertArrayEquals(value, get(other, "/sequence/k", length));
        assertArrayEquals(value, Bytes.read(put));
      }
      // Many at once: of those on one key the last.
      Map<String, byte[]> last = new HashMap<>();
      List<Upcoming<CrailKeyValue>> puts = new ArrayList<>();
      for (int i = 0; i < 24; i++) {
        // A small one overtakes nothing either.
        byte[] value = value(i % 5 == 4 ? 10 : length - i, seed++);
        last.put("k" + i % 3, value);
        puts.add(table.put("k" + i % 3, Bytes.buffer(value)));
      }
      for (Upcoming<CrailKeyValue> put : puts) {
        try {
          put.get();
        } catch (ExecutionException e) {
          assertInstanceOf(StaleNodeException.class, e.getCause(), "overtaken");
        }
      }
      for (Map.Entry<String, byte[]> each : last.entrySet()) {
        assertArrayEquals(each.getValue(), get(other, "/sequence/" + each.getKey(), length));
      }
    }
    store.delete("/sequence", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void theLastPutOfAKeyWins() throws Exception {
    CrailTable table = table("/last");
    for (int length : new int[] {10, 5000, 20, 0, 2000, 30}) {
      table.put("k", Bytes.buffer(value(length, 7))).get();
      assertArrayEquals(value(length, 7), get(other, "/last/k", 5000));
      assertEquals(1, table.files());
    }
    assertEquals("/last/k", table.listEntries().next());
    store.delete("/last", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aReaderFindsTheOldValueUntilTheNewOneIsWhole() throws Exception {
    CrailTable table = table("/replaced");
    byte[][] values = {value(600_000, 1), value(700_000, 2)};
    table.put("k", Bytes.buffer(values[0])).get();
    for (int i = 1; i < 10; i++) {
      byte[] before = values[(i + 1) % 2];
      byte[] after = values[i % 2];
      Upcoming<CrailKeyValue> put = table.put("k", Bytes.buffer(after));
      byte[] found = before;
      for (int looks = 0; looks < 10 && !Arrays.equals(found, after); looks++) {
        CrailKeyValue looked = other.lookup("/replaced/k").get().asKeyValue();
        assertTrue(looked.getCapacity() == before.length || looked.getCapacity() == after.length);
        found = get(other, "/replaced/k", 700_000);
        if (!Arrays.equals(found, before)) {
          assertArrayEquals(after, found);
        }
      }
      put.get();
      assertArrayEquals(after, get(other, "/replaced/k", 700_000));
    }
    store.delete("/replaced", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void mistakesHaveTypedErrors() throws Exception {
    CrailTable table = table("/mistakes");
    table.put("k", Bytes.buffer(value(2000, 1))).get();
    table.put("s", Bytes.buffer(value(20, 1))).get();
    assertEquals(ErrorCode.INVALID_ARGUMENT, failure(table.get("k", Bytes.empty(1999))));
    assertEquals(ErrorCode.INVALID_ARGUMENT, failure(table.get("s", Bytes.empty(19))));
    assertNull(table.get("none", Bytes.empty(1)).get());
    assertNull(store.get("/none/at/all", Bytes.empty(1)).get());
    assertEquals(ErrorCode.WRONG_TYPE, failure(store.get("/mistakes", Bytes.empty(9))));
    Bytes.write(store, "/file", new byte[5]);
    assertEquals(ErrorCode.WRONG_TYPE, failure(store.get("/file", Bytes.empty(9))));
    for (int length : new int[] {5, 5000}) {
      byte[] value = value(length, 1);
      assertEquals(ErrorCode.WRONG_TYPE, failure(store.put("/k", Bytes.buffer(value))));
      assertEquals(ErrorCode.PARENT_NOT_FOUND, failure(store.put("/none/k", Bytes.buffer(value))));
      assertEquals(ErrorCode.NOT_A_CONTAINER, failure(store.put("/file/k", Bytes.buffer(value))));
    }
    for (String key : new String[] {null, "", "a/b", "/"}) {
      CrailException refused =
          assertThrows(CrailException.class, () -> table.put(key, Bytes.buffer(value(5, 1))));
      assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
      assertTrue(refused.getMessage().contains(key == null ? "null" : "'" + key + "'"));
      assertThrows(CrailException.class, () -> table.get(key, Bytes.empty(5)));
    }
    assertNull(store.lookup("/mistakes/null").get());
    store.delete("/mistakes", true).get();
    store.delete("/file", false).get();
  }

  @Test
  void readersOfAReplacedValueFail() throws Exception {
    CrailTable table = table("/replaced");
    for (int length : new int[] {100, 5000}) {
      table.put("k", Bytes.buffer(value(length, 1))).get();
      CrailKeyValue old = other.lookup("/replaced/k").get().asKeyValue();
      CrailInputStream input = old.getDirectInputStream(0);
      byte[] first = Bytes.read(input, 10);
      assertArrayEquals(Arrays.copyOf(value(length, 1), 10), first);
      table.put("k", Bytes.buffer(value(length, 2))).get();
      assertEquals(ErrorCode.STALE_NODE, failure(input.read(Bytes.empty(length))));
      input.close();
      CrailInputStream again = old.getDirectInputStream(0);
      assertEquals(ErrorCode.STALE_NODE, failure(again.read(Bytes.empty(length))));
      again.close();
      // It is gone for whoever wants to write to it as well.
      assertThrows(StaleNodeException.class, () -> old.getDirectOutputStream(0));
    }
    store.delete("/replaced", true).get();
  }

  @Test
  void aWriterOfAReplacedValueFails() throws Exception {
    CrailTable table = table("/overtaken");
    for (int length : new int[] {100, 5000}) {
      CrailOutputStream output = create(other, "/overtaken/k").getDirectOutputStream(0);
      output.write(Bytes.buffer(value(length, 1))).get();
      table.put("k", Bytes.buffer(value(7, 2))).get();
      assertThrows(StaleNodeException.class, output::close);
      assertArrayEquals(value(7, 2), get(store, "/overtaken/k", 7));
    }
    store.delete("/overtaken", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aWriterOfAReplacedValueFailsWhenItReads() throws Exception {
    CrailTable table = table("/unread");
    for (int length : new int[] {100, 5000}) {
      CrailKeyValue made = create(other, "/unread/k");
      CrailOutputStream output = made.getDirectOutputStream(0);
      output.write(Bytes.buffer(value(length, 1))).get();
      assertArrayEquals(value(length, 1), Bytes.read(made));
      table.put("k", Bytes.buffer(value(7, 2))).get();
      CrailInputStream input = made.getDirectInputStream(0);
      assertEquals(ErrorCode.STALE_NODE, failure(input.read(Bytes.empty(length))));
      input.close();
      assertThrows(StaleNodeException.class, output::close);
    }
    store.delete("/unread", true).get();
  }

  @Test
  void appendsGoOnBehindWhatIsThere() throws Exception {
    table("/grown");
    for (int begin : new int[] {0, 10, 1000, 1024, 3000}) {
      byte[] all = value(begin + 30_000, begin);
      store.put("/grown/k", Bytes.buffer(Arrays.copyOf(all, begin))).get();
      int end = begin;
      for (int more : new int[] {5, 0, 20, 2000, 10_000}) {
        CrailKeyValue found = other.lookup("/grown/k").get().asKeyValue();
        CrailOutputStream output = found.getDirectOutputStream(0);
        assertEquals(end, output.position());
        if (more > 0) {
          output.write(Bytes.buffer(Arrays.copyOfRange(all, end, end + more / 2))).get();
          output.write(Bytes.buffer(Arrays.copyOfRange(all, end + more / 2, end + more))).get();
        }
        end += more;
        assertArrayEquals(Arrays.copyOf(all, end), Bytes.read(found), "through its handle");
        output.close();
        assertArrayEquals(Arrays.copyOf(all, end), Bytes.read(found));
        assertArrayEquals(Arrays.copyOf(all, end), read(store, "/grown/k"));
        assertArrayEquals(Arrays.copyOf(all, end), get(store, "/grown/k", 50_000));
      }
    }
    store.delete("/grown", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void syncShowsWhatIsWritten() throws Exception {
    table("/synced");
    byte[] all = value(5000, 3);
    CrailKeyValue made = create(store, "/synced/k");
    CrailOutputStream output = made.getDirectOutputStream(0);
    int end = 0;
    for (int next : new int[] {10, 20, 4000, 5000}) {
      output.write(Bytes.buffer(Arrays.copyOfRange(all, end, next))).get();
      end = next;
      output.sync().get();
      assertArrayEquals(Arrays.copyOf(all, end), read(other, "/synced/k"));
      assertArrayEquals(Arrays.copyOf(all, end), Bytes.read(made));
    }
    output.close();
    assertArrayEquals(all, get(other, "/synced/k", 5000));
    store.delete("/synced", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void purgedBytesGoToADatanode() throws Exception {
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
    table("/purged");
    byte[] all = value(150, 3);
    CrailBufferedOutputStream output = create(store, "/purged/k").getBufferedOutputStream(0);
    output.write(all, 0, 100);
    output.purge().get();
    assertTrue(cluster.usage().usedBytes() > 0);
    output.write(all, 100, 50);
    output.close();
    assertArrayEquals(all, get(other, "/purged/k", 150));
    store.delete("/purged", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void aStoreThatClosesLeavesWhatWasWritten() throws Exception {
    table("/left");
    byte[] value = value(100, 1);
    CrailStore closing = cluster.newStore();
    CrailOutputStream output = create(closing, "/left/k").getDirectOutputStream(0);
    output.write(Bytes.buffer(value)).get();
    closing.close();
    if (lostWithItsStore()) {
      assertThrows(CrailException.class, output::close);
    } else {
      output.close();
      assertArrayEquals(value, get(store, "/left/k", 100));
    }
    store.delete("/left", true).get();
  }

  /** True where a small value has no place when its store is closed before it. */
  boolean lostWithItsStore() {
    return false;
  }

  @Test
  void renamedAndRemovedAsOthersAre() throws Exception {
    CrailTable table = table("/moved");
    for (int length : new int[] {100, 5000}) {
      table.put("a", Bytes.buffer(value(length, 1))).get();
      table.put("b", Bytes.buffer(value(9, 2))).get();
      store.rename("/moved/a", "/moved/b", true).get();
      assertNull(get(other, "/moved/a", 9));
      assertArrayEquals(value(length, 1), get(other, "/moved/b", length));
      assertEquals(1, table.files());
      CrailKeyValue held = other.lookup("/moved/b").get().asKeyValue();
      store.delete("/moved/b", false).get();
      assertNull(get(other, "/moved/b", 9));
      assertThrows(StaleNodeException.class, held::refresh);
    }
    store.delete("/moved", true).get();
    TestCluster.await("space is free", () -> cluster.usage().usedBytes() == 0);
  }

  @Test
  void everyByteHasALocation() throws Exception {
    CrailTable table = table("/located");
    for (int length : new int[] {100, 5000}) {
      table.put("k", Bytes.buffer(value(length, 1))).get();
      CrailKeyValue found = other.lookup("/located/k").get().asKeyValue();
      CrailBlockLocation[] locations = found.getBlockLocations(10, length);
      assertEquals(1, locations.length);
      assertEquals(10, locations[0].getOffset());
      assertEquals(length - 10, locations[0].getLength());
      assertTrue(locations[0].getNames()[0].contains(":"), locations[0].toString());
      assertEquals(0, found.getBlockLocations(length, 1).length);
    }
    store.delete("/located", true).get();
  }
}
