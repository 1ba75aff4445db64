/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.client.call.ExtentMove;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.protocol.node.BeginMove;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One of two datanodes is drained, by the calls of {@code crail drain}. */
@EachTier(and = {Tier.MAPPED, Tier.NVMF})
@Tag("repeat")
class DrainTest {
  private static final int FILES = 8;
  private static final int MIB = 1 << 20;

  private final Tier tier;

  DrainTest(Tier tier) {
    this.tier = tier;
  }

  private static List<ReportDatanodes.Datanode> datanodes(CoreStore store) throws Exception {
    return store
        .connections()
        .namenodes()
        .callAt(0, NameNodeOperations.REPORT_DATANODES, new ReportDatanodes.Request(-1))
        .join()
        .datanodes();
  }

  private static List<ListExtents.Placed> extents(CoreStore store, int datanode) throws Exception {
    return store
        .connections()
        .namenodes()
        .callAt(0, NameNodeOperations.LIST_EXTENTS, new ListExtents.Request(datanode, 0, 0, 0))
        .join()
        .extents();
  }

  private static void move(CoreStore store, ListExtents.Placed placed) throws Exception {
    ExtentMove move =
        new ExtentMove(
            store.connections(),
            new BeginMove.Request(
                placed.id(), 4711, placed.fileOffset(), placed.place(), BeginMove.ANY_DATANODE),
            ByteBuffer.allocateDirect(placed.length()),
            TimeUnit.SECONDS.toNanos(60));
    move.begin();
    assertTrue(move.await() > 0, placed::toString);
  }

  @Test
  void allBytesMoveAndTheDatanodeIsLetGo() throws Exception {
    Random random = new Random(Bytes.seed("drain"));
    try (TestCluster cluster =
            TestCluster.start(
                tier,
                1,
                2,
                "crail.lease=" + (tier.isSlow() ? "20s" : "2s"),
                "crail.namenode.freemargin=200ms",
                "crail.storage.keepalive=400ms");
        CoreStore mover = CoreStore.open(cluster.configuration())) {
      CrailStore store = cluster.newStore();
      List<byte[]> written = new ArrayList<>();
      List<CrailFile> files = new ArrayList<>();
      for (int i = 0; i < FILES; i++) {
        written.add(Bytes.random(random, MIB / 2 + random.nextInt(2 * MIB)));
        files.add(Bytes.write(store, "/f" + i, written.get(i)));
      }
      List<ReportDatanodes.Datanode> before = datanodes(mover);
      assertEquals(2, before.size());
      before.forEach(each -> assertTrue(each.usedBytes() > 0, each::toString));

      ReportDatanodes.Datanode from = before.get(0);
      cluster.drain(from.host().toString(), from.port());
      for (ListExtents.Placed placed : extents(mover, from.id())) {
        move(mover, placed);
      }
      assertEquals(List.of(), extents(mover, from.id()));
      assertWhole(store, files, written);
      TestCluster.await(
          "the datanode is let go",
          () -> datanodes(mover).stream().noneMatch(each -> each.id() == from.id()));
      assertWhole(store, files, written);
      assertEquals(before.get(1).id(), datanodes(mover).get(0).id());
    }
  }

  /** Through the writer's handles, which know the old places, and through new ones. */
  private static void assertWhole(CrailStore store, List<CrailFile> files, List<byte[]> written)
      throws Exception {
    for (int i = 0; i < FILES; i++) {
      assertArrayEquals(written.get(i), Bytes.read(files.get(i)), "/f" + i);
      assertArrayEquals(written.get(i), Bytes.read(store.lookup("/f" + i).get().asFile()));
    }
  }
}
