/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailOutputStream;
import io.crail.CrailStore;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Files whose bytes stay at the namenode: what they cost, and how they leave it. */
@EachTier
@Tag("repeat")
class SmallFileTest extends BufferedStreamTest {
  private static final int LIMIT = 1024;

  private TestCluster cluster;
  private CrailStore store;
  private CrailStore other;

  @Override
  String[] settings() {
    return Stream.concat(
            Stream.of(super.settings()),
            Stream.of("crail.namenode.smallfiles=true", "crail.namenode.smallvalue=" + LIMIT))
        .toArray(String[]::new);
  }

  @Override
  public void start(Tier tier) throws Exception {
    super.start(tier);
    cluster = cluster();
    store = cluster.newStore();
    other = cluster.newStore();
  }

  private Map<String, Long> requests(SentRequests.Action action) throws Exception {
    return SentRequests.of(cluster, store, action);
  }

  private static byte[] bytes(int length) {
    return Bytes.random(new Random(length), length);
  }

  private static CrailFile found(CrailStore at, String path) throws Exception {
    return at.lookup(path).get().asFile();
  }

  private long used() throws Exception {
    return cluster.usage().usedBytes();
  }

  @Test
  void aSmallFileIsWrittenWithItsCloseAndReadWithItsLookup() throws Exception {
    byte[] all = bytes(LIMIT);
    long used = used();
    assertEquals(
        Map.of("create", 1L, "set-size", 1L), requests(() -> Bytes.write(store, "/small", all)));
    assertEquals(used, used());
    assertEquals(
        Map.of("lookup", 1L),
        requests(
            () -> {
              CrailFile file = found(store, "/small");
              assertArrayEquals(all, Bytes.read(file));
              // As with a location that came with the lookup, the namenode is not asked again.
              assertArrayEquals(all, Bytes.read(file));
            }));
    CrailBlockLocation[] locations = found(other, "/small").getBlockLocations(0, LIMIT);
    assertEquals(1, locations.length);
    assertEquals(LIMIT, locations[0].getLength());
    store.delete("/small", false).get();
  }

  @Test
  void aStreamAsksOnceForAFileThatIsReadInParts() throws Exception {
    byte[] all = bytes(100);
    CrailFile written = Bytes.write(store, "/parts", all);
    assertEquals(
        Map.of("find-extents", 1L),
        requests(
            () -> {
              CrailInputStream input = written.getDirectInputStream(0);
              for (int i = 0; i < 10; i++) {
                byte[] part = Bytes.read(input, 10);
                assertArrayEquals(Arrays.copyOfRange(all, 10 * i, 10 * i + 10), part);
              }
              input.close();
            }));
    store.delete("/parts", false).get();
  }

  @Test
  void aFileThatGrowsBeyondTheLimitMovesToDatanodes() throws Exception {
    byte[] all = bytes(3 * LIMIT);
    long used = used();
    CrailFile file = Bytes.write(store, "/grows", Arrays.copyOf(all, 100));
    Bytes.append(file, Arrays.copyOfRange(all, 100, LIMIT));
    assertEquals(used, used());
    final CrailFile early = found(other, "/grows");
    Bytes.append(found(other, "/grows"), Arrays.copyOfRange(all, LIMIT, all.length));
    assertTrue(used() > used);
    assertArrayEquals(all, Bytes.read(found(store, "/grows")));
    assertArrayEquals(Arrays.copyOf(all, LIMIT), Bytes.read(early));
    store.delete("/grows", false).get();
  }

  @Test
  void bytesAreReadThroughTheWritersHandleBeforeTheClose() throws Exception {
    byte[] all = bytes(LIMIT);
    CrailFile file = Bytes.createFile(store, "/open");
    CrailOutputStream output = file.getDirectOutputStream(0);
    output.write(Bytes.buffer(Arrays.copyOf(all, 100))).get();
    assertArrayEquals(Arrays.copyOf(all, 100), Bytes.read(file));
    assertEquals(0, found(other, "/open").getCapacity());
    output.sync().get();
    assertArrayEquals(Arrays.copyOf(all, 100), Bytes.read(found(other, "/open")));
    output.write(Bytes.buffer(Arrays.copyOfRange(all, 100, LIMIT))).get();
    output.close();
    assertArrayEquals(all, Bytes.read(found(other, "/open")));
    store.delete("/open", false).get();
  }
}
