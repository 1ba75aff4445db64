/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Examine.Finding;
import io.crail.protocol.cluster.Examine.Lease;
import io.crail.protocol.cluster.RemoveDatanode;
import io.crail.protocol.node.SetSize;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an examination finds, and how much one page of it does. */
class NameNodeExaminationTest {
  private static final int BLOCK = TestStore.BLOCK;

  /** Extents and nodes that one request may examine while others wait. */
  private static final int MOST = 4096;

  private static final long OFFLINE_MILLIS = 30_000;

  private final TestStore store;
  private final List<Finding> findings = new ArrayList<>();
  private final List<Lease> leases = new ArrayList<>();
  private boolean all;
  private long allocated;
  private long nodes;
  private int pages;

  NameNodeExaminationTest() throws CrailException {
    store = new TestStore();
  }

  private void examine() throws CrailException {
    findings.clear();
    leases.clear();
    allocated = 0;
    nodes = 0;
    pages = 0;
    Examine.Request request = new Examine.Request(0, 0, 0, all);
    while (request.cursor() != -1) {
      Examine.Response page = store.call(NameNodeOperations.EXAMINE, request);
      assertTrue(page.nodes() <= MOST, page.nodes() + " nodes in a page");
      assertTrue(page.allocatedBytes() <= (long) MOST * BLOCK, page.allocatedBytes() + " bytes");
      findings.addAll(page.findings());
      leases.addAll(page.leases());
      allocated += page.allocatedBytes();
      nodes += page.nodes();
      pages++;
      request = new Examine.Request(page.next(), page.id(), page.extent(), all);
    }
    assertEquals(store.namenode.tree().size(), nodes);
  }

  private List<String> texts() {
    return findings.stream()
        .map(each -> each.kind() + " " + each.path() + " " + each.bytes() + "/" + each.size())
        .sorted()
        .toList();
  }

  @Test
  void aGoodStoreHasNoFindingsAndRightAccounts() throws CrailException {
    store.datanode(64L * BLOCK);
    store.mkdir("/d");
    store.write("/d/a", 3L * BLOCK + 5);
    store.write("/b", 100);
    store.create(NodeType.DATAFILE, "/empty", 0);
    examine();
    assertEquals(List.of(), findings);
    assertEquals(store.usage(0).usedBytes(), allocated);
    assertTrue(allocated > 3L * BLOCK);
  }

  @Test
  void filesOfASilentDatanodeAreSilentAndThoseOfOneThatIsGoneAreLost() throws CrailException {
    int first = store.datanode(1, "host", 0, true, 4L * BLOCK);
    store.write("/one", 2L * BLOCK);
    int second = store.datanode(2, "host", 0, true, 4L * BLOCK);
    store.write("/both", 5L * BLOCK);
    store.passAlive(OFFLINE_MILLIS, first);
    examine();
    assertEquals(1, findings.size(), findings::toString);
    assertEquals("/both", findings.get(0).path().toString());
    assertEquals(Examine.SILENT, findings.get(0).kind());
    assertEquals(second, findings.get(0).datanode());
    long silent = findings.get(0).bytes();
    assertTrue(silent > 0 && silent < 5L * BLOCK, silent + " bytes");

    // Another process takes the address of the first one, which was silent for long enough.
    store.passAlive(OFFLINE_MILLIS, second);
    store.call(
        NameNodeOperations.REGISTER_DATANODE, TestStore.registration(9, "host", 1001, 0, true));
    examine();
    assertEquals(
        List.of(
            "1 /both " + (5L * BLOCK - silent) + "/" + 5L * BLOCK,
            "1 /one " + 2L * BLOCK + "/" + 2L * BLOCK),
        texts());
    assertEquals(first, findings.get(0).datanode());
    store.remove("/one", false);
    store.remove("/both", false);
    examine();
    assertEquals(List.of(), findings);
  }

  @Test
  void largeFilesAndManyFilesTakeSeveralPages() throws CrailException {
    int datanode = store.datanode(1, "host", 0, true, 1L << 30);
    for (int region = 1; region < 8; region++) {
      store.region(datanode, region, 1L << 30);
    }
    long large = 6000L * BLOCK;
    store.write("/large", large);
    for (int i = 0; i < 1500; i++) {
      store.write("/" + "x".repeat(200) + i, 1);
    }
    store.pass(OFFLINE_MILLIS);
    examine();
    assertTrue(pages > 3, pages + " pages");
    assertEquals(store.usage(0).usedBytes(), allocated);
    assertEquals(
        large,
        findings.stream()
            .filter(each -> each.path().toString().equals("/large"))
            .mapToLong(Finding::bytes)
            .sum());
    assertEquals(1501, findings.stream().map(each -> each.path().toString()).distinct().count());
    assertEquals(
        1500, findings.stream().filter(each -> !each.path().toString().equals("/large")).count());
  }

  @Test
  void dataOfASilentDatanodeAreLostAtItsRemoval() throws CrailException {
    int stays = store.datanode(1, "host", 0, true, 16L * BLOCK);
    store.datanode(2, "host", 0, true, 16L * BLOCK);
    for (int i = 0; i < 8; i++) {
      store.write("/f" + i, BLOCK);
    }
    store.passAlive(OFFLINE_MILLIS, stays);
    store.call(
        NameNodeOperations.REMOVE_DATANODE,
        new RemoveDatanode.Request(true, 1002, Utf8.of("host")));
    examine();
    assertTrue(!findings.isEmpty() && findings.size() < 8, findings::toString);
    assertTrue(findings.stream().allMatch(each -> each.kind() == Examine.LOST));
    long lost = store.usage(0).lostBytes();
    assertEquals(findings.stream().mapToLong(Finding::bytes).sum(), lost);
    assertEquals(store.usage(0).usedBytes() + lost, allocated);
  }

  @Test
  void readableNodesAreReportedOnRequest() throws CrailException {
    int datanode = store.datanode(1, "host", 0, true, 16L * BLOCK);
    store.mkdir("/d");
    store.write("/d/a", 3L * BLOCK + 5);
    store.create(NodeType.DATAFILE, "/empty", 0);
    store.extend(store.create(NodeType.DATAFILE, "/begun", 8).id(), 8, 0, 100);
    all = true;
    examine();
    assertEquals(List.of("3 /d/a " + (3L * BLOCK + 5) + "/" + (3L * BLOCK + 5)), texts());
    store.datanode(2, "host", 0, true, 16L * BLOCK);
    store.write("/b", 1);
    store.pass(OFFLINE_MILLIS);
    store.rule().keepAlive(TestStore.sign(datanode, 0), TestStore.caller(""));
    examine();
    assertTrue(texts().contains("3 /d/a " + (3L * BLOCK + 5) + "/" + (3L * BLOCK + 5)));
    assertEquals(2, findings.size(), findings::toString);
  }

  @Test
  void writeLeasesAreReportedUntilTheyHaveEnded() throws CrailException {
    store.datanode(64L * BLOCK);
    long held = store.create(NodeType.DATAFILE, "/held", 7).id();
    store.pass(2000);
    long left = store.create(NodeType.DATAFILE, "/left", 8).id();
    store.pass(1000);
    store.write("/closed", 5);
    store.setSize(left, 8, 0, SetSize.EXPIRE);
    examine();
    leases.sort(Comparator.comparing(each -> each.path().toString()));
    assertEquals(List.of(held, left), leases.stream().map(Lease::id).toList());
    assertEquals(List.of(true, false), leases.stream().map(Lease::held).toList());
    assertEquals(List.of(3000L, 1000L), leases.stream().map(Lease::ageMillis).toList());
    assertEquals(TestStore.CLIENT, leases.get(0).client());
    long lease = leases.get(1).leftMillis();
    assertTrue(lease > 5000, leases::toString);
    assertEquals(lease - 3000, leases.get(0).leftMillis(), "granted 3 s before");
    // Nothing ends them, as when the timer has failed.
    store.clock.advanceMillis(lease + 20_000);
    examine();
    leases.sort(Comparator.comparing(each -> each.path().toString()));
    assertEquals(List.of(-23_000L, -20_000L), leases.stream().map(Lease::leftMillis).toList());
    store.namenode.tick();
    examine();
    assertEquals(List.of(), leases);
  }

  @Test
  void eachLeaseIsReportedOnceOverManyPages() throws CrailException {
    int datanode = store.datanode(1, "host", 0, true, 1L << 30);
    for (int region = 1; region < 4; region++) {
      store.region(datanode, region, 1L << 30);
    }
    for (int i = 0; i < 1500; i++) {
      // Findings and leases fill a page, one as soon as the other.
      long id = store.create(NodeType.DATAFILE, "/" + "x".repeat(200) + i, i + 1).id();
      store.extend(id, i + 1, 0, 1);
      store.setSize(id, i + 1, 1, SetSize.KEEP);
    }
    long large = store.create(NodeType.DATAFILE, "/large", 9).id();
    for (long end = 0; end < 3000L * BLOCK; ) {
      end =
          store.extend(large, 9, end, 3000L * BLOCK - end).stream()
              .mapToLong(Extent::fileEnd)
              .max()
              .orElseThrow();
    }
    store.setSize(large, 9, 3000L * BLOCK, SetSize.KEEP);
    for (boolean each : new boolean[] {false, true}) {
      all = each;
      examine();
      assertEquals(1501, leases.size());
      assertEquals(1501, leases.stream().map(Lease::id).distinct().count());
      assertEquals(each ? 1501 : 0, findings.stream().map(Finding::id).distinct().count());
      assertTrue(pages > 3, pages + " pages");
    }
    assertEquals(
        3000L * BLOCK,
        findings.stream().filter(each -> each.id() == large).mapToLong(Finding::bytes).sum());
  }

  @Test
  void falseCursorsAreHarmless() throws CrailException {
    store.datanode(64L * BLOCK);
    long id = store.write("/f", 3L * BLOCK).id();
    for (long cursor : new long[] {Long.MIN_VALUE, -2, Long.MAX_VALUE, 1L << 60}) {
      store.call(
          NameNodeOperations.EXAMINE, new Examine.Request(cursor, id, Integer.MAX_VALUE, true));
      store.call(
          NameNodeOperations.EXAMINE, new Examine.Request(cursor, id, Integer.MIN_VALUE, false));
    }
    store.call(NameNodeOperations.EXAMINE, new Examine.Request(0, id, Integer.MAX_VALUE, true));
  }
}
