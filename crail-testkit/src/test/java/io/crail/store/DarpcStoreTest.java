/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store whose metadata travel over RDMA, with data over RDMA or TCP on the same loop. */
@Tag("rdma")
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class DarpcStoreTest {
  private static final int MIB = 1 << 20;

  @ParameterizedTest
  @CsvSource({"rdma, passive, 32", "tcp, active, 1"})
  void carriesAWholeStore(String tier, String type, int pollSize) throws Exception {
    Random random = new Random(Bytes.seed("darpc"));
    EmbeddedCrail crail =
        EmbeddedCrail.builder()
            .host(RdmaHost.SERVER)
            .storage(32 * MIB)
            .mapped(false)
            .set("crail.namenode.rpctype", "darpc")
            .set("crail.namenode.darpc.type", type)
            .set("crail.namenode.darpc.pollsize", String.valueOf(pollSize))
            .set("crail.namenode.darpc.connecttimeout", "20s")
            .set("crail.storage.types", tier)
            .set("crail.storage.rdma.interface", RdmaHost.SERVER)
            // The test machine may be emulated.
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.lease", "60s")
            .set("crail.storage.rdma.connecttimeout", "20s")
            .set("crail.storage.tcp.connecttimeout", "20s")
            .start();
    try (TestCluster cluster = TestCluster.of(crail)) {
      CrailStore store = cluster.newStore();
      CrailFile file =
          store
              .create(
                  "/file",
                  CrailNodeType.DATAFILE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  true)
              .get()
              .asFile();
      byte[] bytes = Bytes.random(random, 3 * MIB + 5);
      CrailOutputStream stream = file.getDirectOutputStream(0);
      stream.write(Bytes.buffer(bytes)).get();
      stream.close();
      assertArrayEquals(bytes, Bytes.read(store.lookup("/file").get().asFile()));
      List<Future<?>> lookups = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        lookups.add(store.lookup(i % 2 == 0 ? "/file" : "/nothing"));
      }
      for (int i = 0; i < 500; i++) {
        Object found = lookups.get(i).get();
        if (i % 2 == 0) {
          assertEquals("/file", ((io.crail.CrailNode) found).getPath());
        } else {
          assertNull(found);
        }
      }
      store.rename("/file", "/other").get();
      store.delete("/other", false).get();
      assertNull(store.lookup("/other").get());
    }
  }
}
