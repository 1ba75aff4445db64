/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailStore;
import io.crail.client.CoreStore;
import io.crail.conf.CrailConfiguration;
import io.crail.protocol.cluster.ReportDatanodes;
import io.crail.tool.Ran;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What becomes of the rest of a rebalance when one datanode, from which or to which data is to
 * move, has gone and the namenode does not know it yet.
 */
@Tag("once")
class RebalanceFaultsSystemTest {
  private static final int FILES = 40;
  private static final int MIB = 1 << 20;

  /** A datanode is offline only after many times its interval. */
  private static Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("crail.storage.keepalive", "8s");
    settings.put("crail.datatimeout", "3s");
    settings.put("crail.storage.localmap", "false");
    return settings;
  }

  private static CoreStore open(ProcessCluster cluster) throws Exception {
    return (CoreStore) CrailStore.newInstance(CrailConfiguration.of(cluster.configuration()));
  }

  private static void write(CrailStore store, int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      try (CrailBufferedOutputStream out =
          DataFiles.create(store, "/f" + i).getBufferedOutputStream(MIB)) {
        byte[] bytes = new byte[MIB];
        bytes[i] = 1;
        out.write(bytes);
      }
    }
  }

  /** Reads the files at all datanodes but one; returns how many these are. */
  private static int check(CrailStore store, int portOfGone) throws Exception {
    int read = 0;
    for (int i = 0; i < FILES; i++) {
      CrailFile file = store.lookup("/f" + i).get(60, TimeUnit.SECONDS).asFile();
      String name = file.getBlockLocations(0, MIB)[0].getNames()[0];
      if (!name.endsWith(":" + portOfGone)) {
        try (CrailBufferedInputStream in = file.getBufferedInputStream(MIB)) {
          assertEquals(1, in.readAllBytes()[i], file.getPath());
        }
        read++;
      }
    }
    return read;
  }

  /** What nodes have at a datanode that is still said to be online. */
  private static long used(ProcessCluster cluster, CoreStore store, int index) throws Exception {
    ReportDatanodes.Datanode found = cluster.reported(store, index).orElseThrow();
    assertEquals("ONLINE", found.state().name());
    return found.usedBytes();
  }

  @Test
  void othersGiveWhenASourceCannotBeRead() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings());
        CoreStore store = open(cluster)) {
      // The fullest one comes first.
      write(store, 0, FILES / 5);
      cluster.startDatanode("64m", -1);
      write(store, FILES / 5, FILES);
      cluster.startDatanode("64m", -1);
      long unread = used(cluster, store, 0);
      long before = used(cluster, store, 1);
      cluster.datanode(0).kill();
      Ran ran = Ran.run(cluster.directory(), "rebalance", "-t", "1");
      assertEquals(1, ran.code(), ran.stderr());
      assertTrue(ran.stdout().contains("not balanced; moved "), ran::toString);
      assertTrue(ran.stdout().contains("held up: "), ran::toString);
      assertEquals(unread, used(cluster, store, 0));
      long given = before - used(cluster, store, 1);
      assertTrue(given >= 2 * MIB, given + " of " + before);
      assertEquals(given, used(cluster, store, 2));
      int gone = cluster.datanodeAddress(0).getPort();
      assertEquals(FILES - unread / MIB, check(store, gone));
    }
  }

  @Test
  void othersTakeWhatATargetThatIsGoneWasToGet() throws Exception {
    try (ProcessCluster cluster = ProcessCluster.start(1, 1, settings());
        CoreStore store = open(cluster)) {
      write(store, 0, FILES);
      cluster.startDatanode("64m", -1);
      cluster.startDatanode("64m", -1);
      cluster.datanode(1).kill();
      Ran ran = Ran.run(cluster.directory(), "rebalance", "-t", "1");
      assertEquals(1, ran.code(), ran.stderr());
      assertTrue(ran.stdout().contains("not balanced; moved "), ran::toString);
      assertEquals(0, used(cluster, store, 1));
      long taken = used(cluster, store, 2);
      // A third would be its share among three.
      assertTrue(taken >= (FILES / 2 - 2) * MIB, taken + ": " + ran);
      assertEquals(FILES, check(store, 0));
    }
  }
}
