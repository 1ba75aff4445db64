/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBuffer;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.rdma.TwoHosts;
import io.crail.testkit.tier.Tier;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store whose data lie behind RDMA, alone or beside another tier. */
@Tag("rdma")
class RdmaStoreTest {
  private static final int MIB = 1 << 20;
  private static final Pattern REGISTRATIONS = Pattern.compile("\\bmr (\\d+)");

  private static CrailFile createFile(CrailStore store, String path, int storageClass)
      throws Exception {
    return store
        .create(
            path,
            CrailNodeType.DATAFILE,
            CrailStorageClass.get(storageClass).strict(),
            CrailLocationClass.DEFAULT,
            true)
        .get()
        .asFile();
  }

  @Test
  void twoTiersServeOneStore() throws Exception {
    Random random = new Random(Bytes.seed("two tiers"));
    EmbeddedCrail crail =
        EmbeddedCrail.builder()
            .storageClasses(0, 1)
            .storage(32 * MIB)
            .mapped(false)
            .set("crail.storage.types", "rdma,tcp")
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
      byte[] first = Bytes.random(random, 3 * MIB);
      byte[] second = Bytes.random(random, 3 * MIB);
      CrailOutputStream rdma = createFile(store, "/rdma", 0).getDirectOutputStream(0);
      CrailOutputStream tcp = createFile(store, "/tcp", 1).getDirectOutputStream(0);
      // Both under way at once, over one loop.
      Future<CrailResult> one = rdma.write(Bytes.buffer(first));
      Future<CrailResult> other = tcp.write(Bytes.buffer(second));
      one.get();
      other.get();
      rdma.close();
      tcp.close();
      assertArrayEquals(first, Bytes.read(store.lookup("/rdma").get().asFile()));
      assertArrayEquals(second, Bytes.read(store.lookup("/tcp").get().asFile()));
    }
  }

  /** So that what runs on these clusters runs over what they are named after. */
  @ParameterizedTest
  @TwoHosts
  @ValueSource(strings = {Tier.RDMA, Tier.MIXED})
  void aStoreIsConnectedOverRdmaToItsNamenodeAndToOneOfItsDatanodes(String tier) throws Exception {
    int datanodes = tier.equals(Tier.MIXED) ? 2 : 1;
    try (TestCluster cluster = TestCluster.start(Tier.of(tier), 1, datanodes)) {
      final int idle = RdmaHost.connections("rxe0");
      byte[] bytes = Bytes.random(new Random(Bytes.seed("connections")), 4 * MIB);
      CrailFile file = Bytes.write(cluster.newStore(), "/f", bytes);
      assertArrayEquals(bytes, Bytes.read(file));
      assertEquals(idle + 2, RdmaHost.connections("rxe0"));
      Set<String> names = new HashSet<>();
      for (CrailBlockLocation location : file.getBlockLocations(0, bytes.length)) {
        names.add(location.getNames()[0]);
      }
      assertEquals(datanodes, names.size(), names::toString);
    }
  }

  @Test
  void memoryOfThePoolAndOfUsersIsRegisteredOnce() throws Exception {
    try (TestCluster cluster =
        TestCluster.start(Tier.of(Tier.RDMA), 1, 1, "crail.storage.localmap=false")) {
      CrailStore store = cluster.newStore();
      byte[] bytes = Bytes.random(new Random(Bytes.seed("registrations")), MIB);
      CrailBuffer own = Bytes.buffer(new byte[2 * MIB]);
      int registered = 0;
      for (int i = 0; i < 10; i++) {
        CrailFile file = Bytes.createFile(store, "/f" + i);
        CrailBufferedOutputStream buffered = file.getBufferedOutputStream(0);
        buffered.write(bytes);
        buffered.close();
        own.clear().position(i * 1000).limit(i * 1000 + MIB);
        CrailBuffer view = own.slice();
        CrailInputStream input = file.getDirectInputStream(0);
        assertEquals(MIB, input.read(view).get().getLen());
        input.close();
        byte[] seen = new byte[MIB];
        view.clear().get(seen);
        assertArrayEquals(bytes, seen);
        if (i == 0) {
          registered = registrations();
        }
      }
      assertTrue(registered > 0);
      assertEquals(registered, registrations());
    }
  }

  @Test
  void aRestartedNamenodeHasOtherKeys() throws Exception {
    try (TestCluster cluster =
        TestCluster.start(
            Tier.of(Tier.RDMA),
            1,
            1,
            "crail.storage.localmap=false",
            "crail.storage.keepalive=500ms",
            "crail.lease=4s",
            "crail.namenode.freemargin=500ms")) {
      CrailStore store = cluster.newStore();
      byte[] bytes = Bytes.random(new Random(Bytes.seed("new keys")), MIB);
      CrailInputStream old = Bytes.write(store, "/old", bytes).getDirectInputStream(0);
      assertEquals(10, old.read(Bytes.empty(10)).get().getLen());
      cluster.crail().restartNamenode(0);
      TestCluster.await("space comes", () -> cluster.usage().freeBytes() > MIB);
      CrailFile young = Bytes.write(store, "/young", bytes);
      assertArrayEquals(bytes, Bytes.read(young));
      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> old.read(Bytes.empty(10)).get());
      assertInstanceOf(CrailException.class, failed.getCause());
      old.close();
    }
  }

  /** Memory regions of all devices and processes. */
  private static int registrations() throws Exception {
    Process process = new ProcessBuilder("rdma", "resource", "show").start();
    int count = 0;
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      Matcher found = REGISTRATIONS.matcher(String.join(" ", reader.lines().toList()));
      while (found.find()) {
        count += Integer.parseInt(found.group(1));
      }
    }
    return count;
  }
}
