/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static io.crail.store.Bytes.create;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailMultiFile;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many files read as one stream. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier(and = Tier.NVMF)
@Tag("repeat")
class MultiFileTest implements EachTier.Shared {
  private TestCluster cluster;
  private CrailStore mapped;
  private CrailStore network;

  @Override
  public void start(Tier tier) throws Exception {
    cluster =
        TestCluster.start(
            tier,
            2,
            2,
            "crail.buffersize=64k",
            "crail.slicesize=32k",
            "crail.directoryrandomize=false");
    mapped = cluster.newStore("crail.storage.localmap=true");
    network = cluster.newStore("crail.storage.localmap=false");
  }

  @Override
  public void stop() throws Exception {
    cluster.close();
  }

  private static byte[] expected(CrailMultiFile multi, Map<String, byte[]> content)
      throws Exception {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    Iterator<String> entries = multi.listEntries();
    while (entries.hasNext()) {
      all.write(content.get(entries.next()));
    }
    return all.toByteArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 16})
  void concatenatesItsChildren(int outstanding) throws Exception {
    Random random = new Random(Bytes.seed("multi " + outstanding));
    for (CrailStore store : new CrailStore[] {mapped, network}) {
      String path = "/multi" + outstanding + (store == mapped);
      create(store, path, CrailNodeType.MULTIFILE);
      Map<String, byte[]> content = new HashMap<>();
      for (int i = 0; i < 40; i++) {
        int length = i % 5 == 0 ? 0 : random.nextInt(i % 7 == 0 ? 200_000 : 5_000);
        byte[] bytes = Bytes.random(random, length);
        content.put(Bytes.write(store, path + "/" + i, bytes).getPath(), bytes);
      }
      CrailMultiFile multi = store.lookup(path).get().asMultiFile();
      byte[] all = expected(multi, content);
      try (CrailBufferedInputStream input = multi.getMultiStream(outstanding)) {
        assertEquals(0, input.position());
        assertArrayEquals(all, input.readAllBytes());
        assertEquals(all.length, input.position());
        assertEquals(-1, input.read());
      }
      store.delete(path, true).get();
    }
  }

  @Test
  void skipsChildrenThatVanish() throws Exception {
    create(mapped, "/vanish", CrailNodeType.MULTIFILE);
    Map<String, byte[]> content = new HashMap<>();
    for (int i = 0; i < 30; i++) {
      byte[] bytes = new byte[70_000];
      bytes[0] = (byte) i;
      content.put(Bytes.write(mapped, "/vanish/" + i, bytes).getPath(), bytes);
    }
    CrailMultiFile multi = mapped.lookup("/vanish").get().asMultiFile();
    CrailBufferedInputStream input = multi.getMultiStream(2);
    // The listing has been taken; what is deleted now is gone when its turn comes.
    int first = input.read();
    Iterator<String> entries = multi.listEntries();
    int left = 70_000;
    int number = 0;
    while (entries.hasNext()) {
      String path = entries.next();
      if (number > 2 && number % 2 == 1) {
        mapped.delete(path, false).get();
      } else if (number > 0) {
        left += 70_000;
      }
      number++;
    }
    assertEquals(left - 1, input.readAllBytes().length, "after first byte " + first);
    input.close();
  }

  @Test
  void fewerBuffersThanReadsInFlightDoAsWell() throws Exception {
    CrailStore small = cluster.newStore("crail.cachelimit=64k");
    create(small, "/few", CrailNodeType.MULTIFILE);
    for (int i = 0; i < 10; i++) {
      Bytes.write(small, "/few/" + i, new byte[50_000]);
    }
    try (CrailBufferedInputStream input =
        small.lookup("/few").get().asMultiFile().getMultiStream(20)) {
      assertEquals(500_000, input.readAllBytes().length);
    }
    small.freeBuffer(small.allocateBuffer());
  }

  @Test
  void hasNoPositions() throws Exception {
    create(mapped, "/positions", CrailNodeType.MULTIFILE);
    Bytes.write(mapped, "/positions/a", new byte[10]);
    CrailMultiFile multi = mapped.lookup("/positions").get().asMultiFile();
    assertThrows(IllegalArgumentException.class, () -> multi.getMultiStream(0));
    try (CrailBufferedInputStream input = multi.getMultiStream(1)) {
      assertEquals(4, input.skip(4));
      CrailException refused = assertThrows(CrailException.class, () -> input.seek(0));
      assertEquals(ErrorCode.UNSUPPORTED, refused.code());
      assertThrows(CrailException.class, () -> input.read(0L, new byte[1], 0, 1));
      assertEquals(6, input.readAllBytes().length);
    }
  }

  @Test
  void anEmptyOneEndsAtOnce() throws Exception {
    create(mapped, "/empty", CrailNodeType.MULTIFILE);
    try (CrailBufferedInputStream input =
        mapped.lookup("/empty").get().asMultiFile().getMultiStream(4)) {
      assertEquals(-1, input.read());
      assertEquals(0, input.available());
    }
  }
}
