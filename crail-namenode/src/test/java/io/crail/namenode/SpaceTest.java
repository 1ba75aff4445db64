/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static io.crail.namenode.Refusals.refused;
import static io.crail.namenode.TestStore.BLOCK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.HeapBudget;
import io.crail.namenode.space.DatanodeSpace;
import io.crail.namenode.space.HostNames;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.AnnounceSpace;
import io.crail.protocol.node.Create;
import io.crail.protocol.node.Extend;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.ClassUsage;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Tests space: the sizes of extents, their datanodes, when they become free, and the accounts. */
class SpaceTest {
  private static List<Integer> lengths(List<Extent> extents) {
    return extents.stream().map(Extent::length).toList();
  }

  @Test
  void extentsDoubleUpToABlock() throws Exception {
    TestStore store = new TestStore("crail.blocksize", "32k");
    store.datanode(BLOCK);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    assertEquals(List.of(), store.lookup("/f").extents());
    List<Integer> lengths = new ArrayList<>();
    long end = 0;
    for (int i = 0; i < 6; i++) {
      List<Extent> extents = store.extend(id, 9, end, 1);
      assertEquals(1, extents.size());
      assertEquals(end, extents.get(0).fileOffset());
      lengths.add(extents.get(0).length());
      end = extents.get(0).fileEnd();
    }
    assertEquals(List.of(4096, 8192, 16384, 32768, 32768, 32768), lengths);
    store.namenode.verify();
  }

  @Test
  void anAnnouncedSizeGetsItsExtentAtOnce() throws Exception {
    TestStore store = new TestStore();
    store.datanode(256L << 20);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    assertEquals(List.of(65536), lengths(store.extend(id, 9, 0, 40_000)));
    assertEquals(List.of(BLOCK, BLOCK, BLOCK), lengths(store.extend(id, 9, 65536, 5 * BLOCK / 2)));
    // As many as an answer holds, and no more; asked again, the same.
    long other = store.create(NodeType.DATAFILE, "/g", 9).id();
    List<Extent> many = store.extend(other, 9, 0, Long.MAX_VALUE);
    assertEquals(Extend.MAX_EXTENTS, many.size());
    assertEquals(many, store.extend(other, 9, 0, Long.MAX_VALUE));
    assertEquals(many.subList(3, 4), store.extend(other, 9, 3 * BLOCK + 7, 1).subList(0, 1));
    store.namenode.verify();
  }

  @Test
  void extendIsIdempotent() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    List<Extent> first = store.extend(id, 9, 0, 100_000);
    long used = store.usage(0).usedBytes();
    for (int i = 0; i < 5; i++) {
      assertEquals(first, store.extend(id, 9, 0, 100_000));
      assertEquals(first, store.extend(id, 9, 50_000, 1));
    }
    assertEquals(used, store.usage(0).usedBytes());
  }

  @Test
  void extendRefuses() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    NodeInfo directory = store.mkdir("/d");
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    refused(ErrorCode.WRONG_TYPE, "/d", () -> store.extend(directory.id(), 9, 0, 1));
    refused(ErrorCode.WRITE_LEASE_LOST, "/f", () -> store.extend(id, 8, 0, 1));
    refused(ErrorCode.OUT_OF_RANGE, "/f", () -> store.extend(id, 9, 1, 1));
    refused(ErrorCode.OUT_OF_RANGE, "/f", () -> store.extend(id, 9, -1, 1));
    refused(ErrorCode.INVALID_ARGUMENT, "/f", () -> store.extend(id, 9, 0, -1));
    refused(ErrorCode.STALE_NODE, () -> store.extend(id + 100, 9, 0, 1));
    refused(
        ErrorCode.OUT_OF_RANGE,
        () -> store.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 1, 5)));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> store.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 0, 1, -2)));
    assertEquals(0, store.usage(0).usedBytes());
    refused(ErrorCode.OUT_OF_RANGE, () -> store.find(id, -1));
  }

  @Test
  void sizesAreCommittedWithExtend() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, 8192);
    assertEquals(List.of(), store.find(id, 0).extents(), "readers see committed extents");
    store.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 8192, 1, 6000));
    assertEquals(6000, store.find(id, 0).size());
    assertEquals(List.of(6000), lengths(store.find(id, 0).extents()));
    store.call(NameNodeOperations.EXTEND, new Extend.Request(id, 9, 8192, 1, 5000));
    assertEquals(6000, store.find(id, 0).size(), "never shrinks");
    assertEquals(List.of(), store.find(id, 6000).extents());
  }

  @Test
  void aFullStoreAnswersAtOnceAndServesOn() throws Exception {
    TestStore store = new TestStore();
    store.datanode(4L << 20);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    assertEquals(4, store.extend(id, 9, 0, 100 * BLOCK).size());
    long other = store.create(NodeType.DATAFILE, "/g", 9).id();
    for (int i = 0; i < 3; i++) {
      refused(ErrorCode.NO_SPACE, "/g", () -> store.extend(other, 9, 0, 1));
      refused(ErrorCode.NO_SPACE, "/f", () -> store.extend(id, 9, 4 * BLOCK, 1));
    }
    store.namenode.verify();
    assertEquals(0, store.usage(0).freeBytes());
    assertEquals(0, store.usage(0).largestFreeExtentBytes());
    // What is there is still answered, and space that comes back is given at once.
    assertEquals(4, store.extend(id, 9, 0, 100 * BLOCK).size());
    assertEquals(other, store.lookup("/g").node().id());
    store.setSize(id, 9, 10, SetSize.END);
    assertEquals(1, store.extend(other, 9, 0, 1).size());
    store.namenode.verify();
  }

  @Test
  void smallerExtentsAreGivenWhenLargeOnesAreGone() throws Exception {
    TestStore store = new TestStore();
    store.datanode(BLOCK);
    store.write(store.create(NodeType.DATAFILE, "/small", 9), 1);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    List<Extent> extents = store.extend(id, 9, 0, BLOCK);
    assertEquals(BLOCK - 4096, extents.stream().mapToLong(Extent::length).sum());
    assertEquals(BLOCK / 2, extents.get(0).length());
    store.namenode.verify();
  }

  @Test
  void aMillionSmallValuesTakeFourKiloBytesEach() throws Exception {
    TestStore store = new TestStore();
    store.datanode(8L << 20);
    for (int i = 0; i < 2048; i++) {
      store.write("/f" + i, 1000);
    }
    assertEquals(0, store.usage(0).freeBytes());
    store.namenode.verify();
  }

  @Test
  void creatingAndRemovingDoesNotExhaustTheStore() throws Exception {
    TestStore store = new TestStore();
    store.datanode(2L << 20);
    for (int i = 0; i < 5000; i++) {
      store.write("/f", BLOCK);
      store.remove("/f", false);
    }
    store.namenode.verify();
    assertEquals(2L << 20, store.usage(0).freeBytes());
  }

  @Test
  void aFullStoreHasSpaceToComeWhileSomebodyStartsDatanodes() throws Exception {
    TestStore store = new TestStore();
    int datanode = store.datanode(1, "host", 0, true, 2L << 20);
    store.passAlive(60_000, datanode);
    store.write("/f", 2 * BLOCK);
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    refused(ErrorCode.NO_SPACE, () -> store.extend(id, 9, 0, 1));
    announce(store, 0, 1000);
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(id, 9, 0, 1));
    store.passAlive(1100, datanode);
    refused(ErrorCode.NO_SPACE, () -> store.extend(id, 9, 0, 1));
    announce(store, 0, 1000);
    announce(store, 0, 0);
    refused(ErrorCode.NO_SPACE, () -> store.extend(id, 9, 0, 1));
    refused(ErrorCode.INVALID_ARGUMENT, () -> announce(store, 99, 1000));
    refused(ErrorCode.INVALID_ARGUMENT, () -> announce(store, 0, -1));
    refused(ErrorCode.INVALID_ARGUMENT, () -> announce(store, 0, Integer.MAX_VALUE));
  }

  private static void announce(TestStore store, int storageClass, int millis) throws Exception {
    store.call(NameNodeOperations.ANNOUNCE_SPACE, new AnnounceSpace.Request(storageClass, millis));
  }

  @Test
  void spaceOfATierThatDoesNotCheckRestsForALeaseAndAMargin() throws Exception {
    TestStore store = new TestStore();
    int datanode = store.datanode(1, "host", 0, false, 2L << 20);
    store.write("/f", 2 * BLOCK);
    store.remove("/f", false);
    assertEquals(2 * BLOCK, store.usage(0).waitingBytes());
    store.namenode.verify();
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    refused(ErrorCode.SPACE_TO_COME, () -> store.extend(id, 9, 0, 1));
    store.passAlive(15_900, datanode);
    assertEquals(2 * BLOCK, store.usage(0).waitingBytes());
    store.passAlive(200, datanode);
    assertEquals(0, store.usage(0).waitingBytes());
    store.namenode.verify();
    assertEquals(2L << 20, store.usage(0).freeBytes());
  }

  @Test
  void spaceUnderAWriteLeaseRestsUntilItsEndAndAMargin() throws Exception {
    TestStore store = new TestStore();
    int datanode = store.datanode(2L << 20);
    long id = store.create(NodeType.DATAFILE, "/f", 9).id();
    store.extend(id, 9, 0, BLOCK);
    store.remove("/f", false);
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    refused(ErrorCode.STALE_NODE, () -> store.extend(id, 9, 0, 1));
    store.passAlive(15_900, datanode);
    assertEquals(BLOCK, store.usage(0).waitingBytes());
    store.passAlive(200, datanode);
    assertEquals(0, store.usage(0).waitingBytes());
  }

  @Test
  void waitingSpaceIsReclaimedOnDemand() throws Exception {
    TestStore store = new TestStore();
    int datanode = store.datanode(1, "host", 0, false, BLOCK);
    store.write("/f", BLOCK);
    store.remove("/f", false);
    store.clock.advanceMillis(10_000);
    store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller(""));
    store.clock.advanceMillis(7_000);
    // No tick has run since.
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    assertEquals(1, store.extend(id, 9, 0, BLOCK).size());
    store.namenode.verify();
  }

  @Test
  void removedSubtreesAreTakenApartOnDemand() throws Exception {
    TestStore store = new TestStore();
    store.datanode(4L << 20);
    store.mkdir("/d");
    for (int i = 0; i < 1000; i++) {
      store.write("/d/f" + i, 4096);
    }
    store.remove("/d", true);
    long id = store.create(NodeType.DATAFILE, "/g", 9).id();
    assertEquals(4, store.extend(id, 9, 0, 4 * BLOCK).size() + missing(store, id));
    store.namenode.verify();
  }

  /** Extends until four blocks are there; the number of further answers it took. */
  private static int missing(TestStore store, long id) throws Exception {
    int end = 0;
    int extents = store.extend(id, 9, 0, 4 * BLOCK).size();
    while (end < 4 * BLOCK) {
      List<Extent> more = store.extend(id, 9, end, 4 * BLOCK - end);
      end = (int) more.get(more.size() - 1).fileEnd();
    }
    return 4 - extents;
  }

  private static Create.Request placed(String path, int storageClass, boolean strict, String host) {
    return new Create.Request(
        NodeType.DATAFILE,
        true,
        strict,
        false,
        0644,
        storageClass,
        9,
        Utf8.of(path),
        Utf8.of(host));
  }

  @Test
  void classesSpillInOrderUnlessStrict() throws Exception {
    TestStore store = new TestStore("crail.storage.classes", "3");
    int[] datanodes = new int[3];
    for (int i = 0; i < 3; i++) {
      datanodes[i] = store.datanode(10 + i, "host", i, true, BLOCK);
    }
    long id = store.call(NameNodeOperations.CREATE, placed("/f", 1, false, "")).node().id();
    List<Integer> order =
        store.extend(id, 9, 0, 10 * BLOCK).stream()
            .map(extent -> extent.place().datanode())
            .toList();
    assertEquals(List.of(datanodes[1], datanodes[2], datanodes[0]), order);
    store.setSize(id, 9, 0, SetSize.END);
    long strict = store.call(NameNodeOperations.CREATE, placed("/g", 1, true, "")).node().id();
    assertEquals(1, store.extend(strict, 9, 0, 10 * BLOCK).size());
    refused(ErrorCode.NO_SPACE, "strictly", () -> store.extend(strict, 9, BLOCK, 1));
    assertEquals(BLOCK, store.usage(0).freeBytes());
    store.namenode.verify();
  }

  @Test
  void theSpillOrderIsConfigured() throws Exception {
    TestStore store = new TestStore("crail.storage.classes", "3", "crail.storage.spillorder", "0");
    int[] datanodes = new int[3];
    for (int i = 0; i < 3; i++) {
      datanodes[i] = store.datanode(10 + i, "host", i, true, BLOCK);
    }
    long id = store.call(NameNodeOperations.CREATE, placed("/f", 1, false, "")).node().id();
    List<Integer> order =
        store.extend(id, 9, 0, 10 * BLOCK).stream()
            .map(extent -> extent.place().datanode())
            .toList();
    assertEquals(List.of(datanodes[1], datanodes[0]), order);
    assertThrows(
        ConfigException.class,
        () -> new TestStore("crail.storage.classes", "2", "crail.storage.spillorder", "0,2"));
    assertThrows(
        ConfigException.class,
        () -> new TestStore("crail.storage.classes", "2", "crail.storage.rootclass", "2"));
  }

  @Test
  void aDatanodeOnTheWantedHostIsPreferredWithinItsClass() throws Exception {
    TestStore store = new TestStore();
    int here = store.datanode(1, "here", 0, true, BLOCK);
    int there = store.datanode(2, "there", 0, true, 8 * BLOCK);
    int lower = store.datanode(3, "there", 1, true, 8 * BLOCK);
    store.call(
        NameNodeOperations.CREATE,
        new Create.Request(
            NodeType.DIRECTORY, true, false, false, 0644, -1, 0, Utf8.of("/d"), Utf8.of("There")));
    long inherits =
        store
            .call(
                NameNodeOperations.CREATE,
                new Create.Request(
                    NodeType.DATAFILE,
                    true,
                    false,
                    false,
                    0644,
                    -1,
                    9,
                    Utf8.of("/d/f"),
                    Create.PARENT_HOST))
            .node()
            .id();
    store
        .extend(inherits, 9, 0, 5 * BLOCK)
        .forEach(extent -> assertEquals(there, extent.place().datanode()));
    long local = store.call(NameNodeOperations.CREATE, placed("/l", -1, false, "here")).node().id();
    assertEquals(here, store.extend(local, 9, 0, 1).get(0).place().datanode());
    // Affinity is a preference within the class, not a reason to leave it.
    long low = store.call(NameNodeOperations.CREATE, placed("/m", 1, false, "here")).node().id();
    assertEquals(lower, store.extend(low, 9, 0, 1).get(0).place().datanode());
    long full = store.call(NameNodeOperations.CREATE, placed("/n", 0, false, "here")).node().id();
    List<Extent> extents = store.extend(full, 9, 0, 2 * BLOCK);
    assertEquals(there, extents.get(extents.size() - 1).place().datanode());
  }

  @Test
  void aNodeWhoseHostHasNoRoomStaysTogetherOnAnother() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1, "full", 0, true, BLOCK);
    long filler = store.call(NameNodeOperations.CREATE, placed("/f", 0, false, "full")).node().id();
    store.extend(filler, 9, 0, BLOCK);
    Map<Integer, String> hosts = new HashMap<>();
    for (int i = 0; i < 4; i++) {
      String host = i % 2 == 0 ? "one" : "other";
      hosts.put(store.datanode(2 + i, host, 0, true, 16 * BLOCK), host);
    }
    Set<Set<String>> used = new HashSet<>();
    for (int file = 0; file < 8; file++) {
      String host = file % 3 == 0 ? "full" : "none-has-this-name";
      Create.Request create = placed("/together-" + file, 0, false, host);
      long id = store.call(NameNodeOperations.CREATE, create).node().id();
      List<Extent> extents = new ArrayList<>(store.extend(id, 9, 0, 1));
      extents.addAll(store.extend(id, 9, extents.get(0).fileEnd(), 3 * BLOCK));
      used.add(hostsOf(extents, hosts));
    }
    assertEquals(Set.of(Set.of("one"), Set.of("other")), used);
    long id = store.call(NameNodeOperations.CREATE, placed("/apart", 0, false, "")).node().id();
    assertEquals(Set.of("one", "other"), hostsOf(store.extend(id, 9, 0, 4 * BLOCK), hosts));
    store.namenode.verify();
  }

  private static Set<String> hostsOf(List<Extent> extents, Map<Integer, String> hosts) {
    return extents.stream()
        .map(extent -> hosts.get(extent.place().datanode()))
        .collect(Collectors.toSet());
  }

  @Test
  void aNodeIsWrittenToItsHostThoughTheHostsFirstDatanodeCameLater() throws Exception {
    TestStore store = new TestStore();
    store.datanode(1, "elsewhere", 0, true, 8 * BLOCK);
    final long file =
        store.call(NameNodeOperations.CREATE, placed("/f", -1, false, "Late")).node().id();
    int late = store.datanode(2, "late", 0, true, 8 * BLOCK);
    store
        .extend(file, 9, 0, 5 * BLOCK)
        .forEach(extent -> assertEquals(late, extent.place().datanode()));
  }

  @Test
  void hostsThatClientsThinkOfLeaveNumbersForThoseOfDatanodes() {
    HostNames hosts = new HostNames(new HeapBudget(Long.MAX_VALUE / 2, ""), (name, number) -> {});
    int last = HostNames.ANY;
    for (int i = 0; i < 20_000; i++) {
      last = hosts.find(Utf8.of("made-up-" + i));
    }
    assertEquals(HostNames.ANY, last);
    assertEquals(HostNames.ANY, hosts.find(Utf8.of("n".repeat(256))));
    int known = hosts.find(Utf8.of("made-up-7"));
    assertTrue(known != HostNames.ANY);
    assertEquals(known, hosts.add(Utf8.of("Made-Up-7")));
    int datanodes = hosts.add(Utf8.of("real"));
    assertTrue(datanodes != HostNames.ANY);
    assertEquals(datanodes, hosts.find(Utf8.of("REAL")));
  }

  @Test
  void policiesChooseDatanodes() throws Exception {
    assertEquals(3, distinct("roundrobin", 3));
    assertEquals(1, distinct("sequential", 8));
    assertTrue(distinct("random", 40) >= 2);
    assertEquals(1, distinct("mostfree", 3));
    // The largest, and one of the others if it is not among the two.
    assertTrue(distinct("freeroftwo", 40) >= 2);
    ConfigException e =
        assertThrows(
            ConfigException.class, () -> new TestStore("crail.namenode.blockselection", "nearest"));
    assertTrue(e.getMessage().contains("mostfree") && e.getMessage().contains("third-party"));
    assertEquals(1, distinct("third-party", 3));
  }

  /** How many of three datanodes, one of them larger, get one of {@code files} blocks. */
  private static int distinct(String policy, int files) throws Exception {
    TestStore store = new TestStore("crail.namenode.blockselection", policy);
    for (int i = 0; i < 3; i++) {
      store.datanode(1 + i, "host" + i, 0, true, (i == 1 ? 100L : 50L) << 20);
    }
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < files; i++) {
      long id = store.create(NodeType.DATAFILE, "/f" + i, 9).id();
      seen.add(store.extend(id, 9, 0, BLOCK).get(0).place().datanode());
    }
    return seen.size();
  }

  /** Random files of random sizes over several datanodes: nothing overlaps, nothing is lost. */
  @Test
  void randomFilesNeverOverlap() throws Exception {
    Random random = new Random(TestStore.seed());
    TestStore store = new TestStore("crail.blocksize", "64k");
    int[] datanodes = new int[4];
    long capacity = 0;
    for (int i = 0; i < datanodes.length; i++) {
      datanodes[i] = store.datanode(1 + i, "host" + i, i % 2, i < 3, 2L << 20);
      store.region(datanodes[i], 1, 1L << 20);
      capacity += 3L << 20;
    }
    Map<String, List<Extent>> files = new HashMap<>();
    Map<List<Long>, Long> generations = new HashMap<>();
    for (int step = 0; step < 4000; step++) {
      String path = "/f" + random.nextInt(200);
      if (files.containsKey(path)) {
        store.remove(path, false);
        files.remove(path);
      } else {
        long id = store.create(NodeType.DATAFILE, path, 9).id();
        long size = random.nextInt(1 + random.nextInt(200_000));
        try {
          long end = 0;
          while (end < size) {
            List<Extent> extents = store.extend(id, 9, end, 1 + random.nextInt(50_000));
            end = extents.get(extents.size() - 1).fileEnd();
          }
        } catch (CrailException e) {
          assertTrue(
              e.code() == ErrorCode.NO_SPACE || e.code() == ErrorCode.SPACE_TO_COME, e::toString);
          size = 0;
        }
        store.setSize(id, 9, size, random.nextInt(5) == 0 ? SetSize.EXPIRE : SetSize.END);
        files.put(path, allocated(store, id, store.find(id, 0).extents().size()));
      }
      if (step % 50 == 0) {
        checkNoOverlap(files, generations);
        store.namenode.verify();
        store.passAlive(random.nextInt(4000), datanodes);
      }
    }
    for (String path : files.keySet()) {
      store.remove(path, false);
    }
    store.passAlive(40_000, datanodes);
    store.namenode.verify();
    ClassUsage zero = store.usage(0);
    ClassUsage one = store.usage(1);
    assertEquals(capacity, zero.freeBytes() + one.freeBytes());
    assertEquals(capacity, zero.capacityBytes() + one.capacityBytes());
    for (DatanodeSpace datanode : store.namenode.datanodes().present()) {
      assertEquals(datanode.totalBlocks(), datanode.freeBlocks(), "merged to whole blocks");
    }
  }

  /** The first extents with all of their space, of which readers see the committed part. */
  private static List<Extent> allocated(TestStore store, long id, int count) throws Exception {
    List<Extent> extents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      extents.add(store.namenode.tree().require(id).space().at(i).extent());
    }
    return extents;
  }

  private static void checkNoOverlap(
      Map<String, List<Extent>> files, Map<List<Long>, Long> generations) {
    TreeMap<Long, Extent> byPlace = new TreeMap<>();
    for (List<Extent> extents : files.values()) {
      for (Extent extent : extents) {
        long place =
            ((long) extent.place().datanode() << 32)
                + ((long) extent.place().region() << 28)
                + extent.place().offset();
        assertEquals(0, extent.place().offset() % extent.length(), "aligned");
        Extent other = byPlace.put(place, extent);
        assertEquals(null, other, "two extents in one place");
        List<Long> key =
            List.of(
                (long) extent.place().datanode(),
                (long) extent.place().region(),
                extent.place().generation());
        Long owner = generations.put(key, place);
        assertTrue(owner == null || owner == place, "a generation given twice in a region");
      }
    }
    long end = Long.MIN_VALUE;
    for (Map.Entry<Long, Extent> entry : byPlace.entrySet()) {
      assertTrue(entry.getKey() >= end, "overlap");
      end = entry.getKey() + entry.getValue().length();
    }
  }
}
