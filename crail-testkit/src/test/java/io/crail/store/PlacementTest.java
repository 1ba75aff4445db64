/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.conf.CrailConfiguration;
import io.crail.embedded.EmbeddedCrail;
import io.crail.testkit.rdma.RdmaHost;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Storage classes, location classes, and where blocks are said to lie. The first type of a tier is
 * class 0, and the last one class 1.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier(
    and = {Tier.MIXED, Tier.MEMORY_AND_FLASH},
    not = Tier.RDMA)
class PlacementTest implements EachTier.Shared {
  private static final int MIB = 1 << 20;

  private Tier tier;
  private EmbeddedCrail crail;
  private CrailStore store;

  @Override
  public void start(Tier tier) throws Exception {
    assumeTrue(
        !tier.is(Tier.MIXED) || RdmaHost.hasTwoHosts(), "needs the two hosts of bin/rdma-vm");
    this.tier = tier;
    EmbeddedCrail.Builder builder =
        EmbeddedCrail.builder()
            .host(tier.host())
            .storageClasses(0, 0, 1)
            .storage(16 * MIB)
            .set("crail.rpctimeout", "60s")
            .set("crail.datatimeout", "60s")
            .set("crail.storage.classes", "2")
            .set("crail.storage.tcp.allocationsize", "4m")
            .set("crail.storage.rdma.allocationsize", "4m");
    tier.settings().forEach(builder::set);
    crail = builder.start();
    store = CrailStore.newInstance(CrailConfiguration.of(crail.configuration()));
  }

  @Override
  public void stop() throws Exception {
    if (crail != null) {
      store.close();
      crail.close();
    }
  }

  private CrailFile create(
      String path, CrailStorageClass storageClass, CrailLocationClass locationClass)
      throws Exception {
    return store
        .create(path, CrailNodeType.DATAFILE, storageClass, locationClass, true)
        .get()
        .asFile();
  }

  private static Set<Integer> classesOf(CrailFile file) throws Exception {
    Set<Integer> classes = new HashSet<>();
    for (CrailBlockLocation location : file.getBlockLocations(0, file.getCapacity())) {
      Arrays.stream(location.getStorageTypes()).forEach(classes::add);
    }
    return classes;
  }

  @Test
  void aClassIsAskedFirstAndAStrictOneAlone() throws Exception {
    CrailFile fast = create("/class1", CrailStorageClass.get(1), CrailLocationClass.DEFAULT);
    Bytes.append(fast, new byte[2 * MIB]);
    assertEquals(Set.of(1), classesOf(fast));
    CrailFile spilling = create("/spill", CrailStorageClass.get(1), CrailLocationClass.DEFAULT);
    Bytes.append(spilling, new byte[20 * MIB]);
    assertEquals(Set.of(0, 1), classesOf(spilling));
    store.delete("/spill", false).get();
    CrailFile strict =
        create("/strict", CrailStorageClass.get(1).strict(), CrailLocationClass.DEFAULT);
    CrailException full =
        assertThrows(CrailException.class, () -> failing(strict, new byte[20 * MIB]));
    assertEquals(ErrorCode.NO_SPACE, full.code());
    store.delete("/strict", false).get();
    store.delete("/class1", false).get();
  }

  private static void failing(CrailFile file, byte[] bytes) throws Exception {
    io.crail.CrailOutputStream output = file.getDirectOutputStream(0);
    assertThrows(ExecutionException.class, () -> output.write(Bytes.buffer(bytes)).get());
    output.close();
  }

  @Test
  void locationsCoverTheRangeWithoutGaps() throws Exception {
    int length = 5 * MIB + 4_321;
    CrailFile file = create("/located", CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT);
    Bytes.append(file, new byte[length]);
    for (long[] range : new long[][] {{0, length}, {5_000, 3 * MIB}, {length - 1, 100}}) {
      CrailBlockLocation[] locations = file.getBlockLocations(range[0], range[1]);
      long at = range[0];
      for (CrailBlockLocation location : locations) {
        assertEquals(at, location.getOffset());
        assertTrue(location.getLength() > 0 && location.getLength() <= MIB);
        at += location.getLength();
        assertEquals(1, location.getHosts().length);
        String host = location.getHosts()[0];
        assertTrue(location.getNames()[0].startsWith(host + ":"), location.toString());
        assertEquals("/default-rack/" + location.getNames()[0], location.getTopology()[0]);
        assertEquals(CrailLocationClass.of(host).value(), location.getLocationAffinities()[0]);
        assertEquals(0, location.getStorageTypes()[0]);
      }
      assertEquals(Math.min(length, range[0] + range[1]), at);
    }
    assertEquals(0, file.getBlockLocations(length, 10).length);
    assertEquals(0, store.lookup("/").get().getBlockLocations(0, 10).length);
    assertThrows(IllegalArgumentException.class, () -> file.getBlockLocations(-1, 10));
    store.delete("/located", false).get();
  }

  @Test
  void hostsAreRenamedAndMultipliedAsConfigured() throws Exception {
    // A datanode that lends flash need not be on the target's host.
    CrailFile plain = Bytes.write(store, "/plain", new byte[MIB]);
    String host = plain.getBlockLocations(0, MIB)[0].getHosts()[0];
    store.delete("/plain", false).get();
    CrailConfiguration configuration = CrailConfiguration.of(crail.configuration());
    configuration.set("crail.locationmap", host + ",elsewhere");
    configuration.set("crail.shadowreplication", "2");
    CrailStore mapping = CrailStore.newInstance(configuration);
    CrailFile file = Bytes.write(mapping, "/mapped", new byte[4 * MIB]);
    for (CrailBlockLocation location : file.getBlockLocations(0, 4 * MIB)) {
      assertArrayEquals(new String[] {"elsewhere", "elsewhere"}, location.getHosts());
      assertFalse(location.getNames()[0].equals(location.getNames()[1]));
    }
    mapping.delete("/mapped", false).get();
    mapping.close();
  }

  @Test
  void locationClassesNameHosts() throws Exception {
    CrailLocationClass here = store.getLocationClass();
    assertTrue(here.value() > 0);
    assertEquals(tier.clientHost(), here.host());
    assertEquals(here, CrailLocationClass.of(tier.clientHost()));
    assertEquals(here, CrailLocationClass.get(here.value()));
    assertEquals(CrailLocationClass.PARENT, CrailLocationClass.get(-1));
    assertEquals(CrailLocationClass.DEFAULT, CrailLocationClass.get(0));
    assertThrows(IllegalArgumentException.class, () -> CrailLocationClass.get(-2));
    // Names whose hash is negative are hosts like others.
    for (String host : new String[] {"node-1", "node-2", "a-host.example.org"}) {
      assertTrue(CrailLocationClass.of(host).value() > 0);
      create("/at-" + host, CrailStorageClass.DEFAULT, CrailLocationClass.of(host));
    }
    create("/by-number", CrailStorageClass.DEFAULT, CrailLocationClass.get(here.value()));
    CrailException unknown =
        assertThrows(
            CrailException.class,
            () -> create("/unknown", CrailStorageClass.DEFAULT, CrailLocationClass.get(12_345)));
    assertEquals(ErrorCode.INVALID_ARGUMENT, unknown.code());
  }

  @Test
  void theSpaceOfAllClassesAddsUp() throws Exception {
    store
        .create(
            "/space",
            CrailNodeType.DATAFILE,
            CrailStorageClass.get(1),
            CrailLocationClass.DEFAULT,
            true)
        .get();
    try (CrailBufferedOutputStream out =
        store.lookup("/space").get().asFile().getBufferedOutputStream(0)) {
      out.write(new byte[10_000]);
    }

    CrailSpace space = store.getSpace();
    assertEquals(3 * 16L * MIB, space.capacityBytes());
    assertEquals(
        space.capacityBytes(), space.freeBytes() + space.usedBytes() + space.waitingBytes());
    assertTrue(space.usedBytes() >= 10_000, space.toString());
    store.delete("/space", false).get();
  }
}
