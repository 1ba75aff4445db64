/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.CrailAttributeChanges;
import io.crail.CrailBuffer;
import io.crail.CrailFile;
import io.crail.CrailNodeType;
import io.crail.CrailStore;
import io.crail.compound.CompoundOperation;
import io.crail.compound.StagedBytes;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.Operation;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The connection to a namenode breaks before or after a request was served, at each step of a
 * program. The program does not notice, and everything has happened once.
 */
@Timeout(120)
class LostAnswerTest {
  private static final int LARGE = 3 << 20;

  private final byte[] bytes = Bytes.random(new Random(Bytes.seed("lost answers")), LARGE);

  static Stream<Arguments> losses() {
    return Stream.of(
            NameNodeOperations.CREATE,
            NameNodeOperations.EXTEND,
            NameNodeOperations.SET_SIZE,
            NameNodeOperations.ACQUIRE_LEASE,
            NameNodeOperations.RENAME,
            NameNodeOperations.SET_ATTRIBUTES,
            NameNodeOperations.PUT,
            NameNodeOperations.STAGE,
            NameNodeOperations.OPERATE,
            NameNodeOperations.REMOVE)
        .flatMap(
            operation ->
                Stream.of(LossyRelay.Loss.values()).map(loss -> Arguments.of(operation, loss)));
  }

  @ParameterizedTest
  @MethodSource("losses")
  void theProgramDoesNotNotice(Operation<?, ?> operation, LossyRelay.Loss loss) throws Exception {
    try (TestCluster cluster = TestCluster.start("crail.blocksize=1m");
        LossyRelay relay =
            new LossyRelay(cluster.configuration().get(ClusterKeys.NAMENODE_ADDRESS).get(0))) {
      String address = "crail://127.0.0.1:" + relay.address().getPort();
      CrailStore store = cluster.newStore("crail.namenode.address=" + address);
      // Every connection is there, and has served something.
      Bytes.create(store, "/before", CrailNodeType.DIRECTORY);
      relay.lose(operation.number(), loss);
      run(store);
      assertEquals(1, relay.losses(), "nothing was lost");
      assertEquals(0, cluster.usage().usedBytes(), "space that nothing has");
    }
  }

  /** Each step fails if it happens twice. */
  private void run(CrailStore store) throws Exception {
    Bytes.create(store, "/d", CrailNodeType.DIRECTORY);
    CrailFile file = Bytes.write(store, "/d/f", bytes);
    Bytes.append(file, bytes);
    byte[] read = Bytes.read(store.lookup("/d/f").get().asFile());
    assertEquals(2 * LARGE, read.length);
    assertArrayEquals(bytes, Arrays.copyOfRange(read, LARGE, 2 * LARGE));
    store.rename("/d/f", "/d/g").get();
    store.setAttributes("/d/g", CrailAttributeChanges.ofPermissions(0600)).get();
    assertEquals(0600, store.lookup("/d/g").get().getAttributes().permissions());
    Bytes.create(store, "/t", CrailNodeType.TABLE);
    for (int length : new int[] {100, LARGE}) {
      CrailBuffer value = Bytes.buffer(Arrays.copyOf(bytes, length));
      store.put("/t/" + length, value).get();
      CrailBuffer target = Bytes.empty(LARGE);
      assertEquals(length, store.get("/t/" + length, target).get().getLen());
    }
    for (int round = 1; round <= 2; round++) {
      byte[] part = Arrays.copyOfRange(bytes, (round - 1) * LARGE / 2, round * LARGE / 2);
      try (StagedBytes staged = store.stage("/t/log", Bytes.buffer(part)).get()) {
        CompoundOperation append =
            CompoundOperation.builder().create().orGoOn().append(staged).build();
        assertEquals(round * LARGE / 2, store.operate("/t/log", append).get().orThrow().size());
      }
    }
    CrailBuffer log = Bytes.empty(LARGE);
    log.position((int) store.get("/t/log", log).get().getLen());
    assertArrayEquals(bytes, Bytes.bytesOf(log));
    store.delete("/d/g", false).get();
    store.delete("/d", false).get();
    store.delete("/t", true).get();
    assertNull(store.lookup("/d").get());
  }
}
