/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The first writes of a store, which waits for its datanodes while more writes are issued. */
@EachTier(ifLong = Tier.MIXED)
@Tag("repeat")
class FirstWritesTest {
  private final Tier tier;
  private final int rounds;

  FirstWritesTest(Tier tier) {
    this.tier = tier;
    // An emulated machine needs seconds for each.
    this.rounds = tier.rounds(30);
  }

  @Test
  void laterWritesDoNotOvertakeTheSpaceOfEarlierOnes() throws Exception {
    try (TestCluster cluster = TestCluster.start(tier, 1, 3)) {
      for (int round = 0; round < rounds; round++) {
        // A new store each time: it does not know its datanodes yet.
        try (CrailStore store =
            CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()))) {
          writeAndCheck(store, "/first-" + round % 2, new Random(round));
          store.delete("/first-" + round % 2, false).get(60, TimeUnit.SECONDS);
        }
      }
    }
  }

  private static void writeAndCheck(CrailStore store, String path, Random random) throws Exception {
    CrailFile file =
        store
            .create(
                path,
                CrailNodeType.DATAFILE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get(60, TimeUnit.SECONDS)
            .asFile();
    byte[] expected = new byte[3_000_000];
    random.nextBytes(expected);
    CrailOutputStream out = file.getDirectOutputStream(random.nextBoolean() ? expected.length : 0);
    List<Future<CrailResult>> writes = new ArrayList<>();
    for (int position = 0; position < expected.length; ) {
      int length = Math.min(expected.length - position, 1 + random.nextInt(700_000));
      ByteBuffer bytes = ByteBuffer.allocateDirect(length);
      bytes.put(0, expected, position, length);
      writes.add(out.write(OffHeapBuffer.wrap(bytes)));
      position += length;
    }
    for (Future<CrailResult> write : writes) {
      write.get(60, TimeUnit.SECONDS);
    }
    out.close();
    CrailFile found = store.lookup(path).get(60, TimeUnit.SECONDS).asFile();
    try (CrailBufferedInputStream in = found.getBufferedInputStream(expected.length)) {
      assertArrayEquals(expected, in.readAllBytes());
    }
  }
}
