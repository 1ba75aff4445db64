/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Printable;
import io.crail.dist.admin.AdminClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.ListExtents;
import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.part.Extent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Looks for space of a namenode that two nodes have. The namenode continues in the meantime, and
 * gives freed space to others. So what looks like that is listed twice more: two extents that
 * overlap and are there both times have been there at one moment, since a generation is given once.
 * Used by one thread.
 */
final class ExtentOwners {
  /** The most extents that are looked at again. */
  private static final int MOST_SUSPECTS = 10_000;

  /** The most lines. */
  private static final int MOST_LINES = 1_000;

  /** What stays the same of an extent while it belongs to a node; bytes may be cut off. */
  private record Grant(
      long node, int datanode, int region, long regionOffset, long generation, long fileOffset) {
    static Grant of(Placed placed) {
      Extent extent = placed.extent();
      return new Grant(
          placed.id(),
          extent.datanode(),
          extent.region(),
          extent.regionOffset(),
          extent.generation(),
          extent.fileOffset());
    }
  }

  private record Pair(Placed first, Placed second) {}

  private final AdminClient cluster;
  private final int index;

  private ExtentOwners(AdminClient cluster, int index) {
    this.cluster = cluster;
    this.index = index;
  }

  /** Space of a namenode that two nodes have, a line for each two extents. */
  static List<String> check(AdminClient cluster, int index)
      throws IOException, InterruptedException {
    return new ExtentOwners(cluster, index).check();
  }

  private List<String> check() throws IOException, InterruptedException {
    ExtentUnits seen = new ExtentUnits();
    ExtentUnits suspects = new ExtentUnits();
    int[] count = new int[1];
    visit(
        placed -> {
          if (seen.add(placed.extent()) && count[0] < MOST_SUSPECTS) {
            count[0]++;
            suspects.add(placed.extent());
          }
        });
    if (count[0] == 0) {
      return List.of();
    }
    Map<Grant, Placed> first = touching(suspects);
    first.keySet().retainAll(touching(suspects).keySet());
    List<Pair> pairs = overlapping(new ArrayList<>(first.values()));
    return pairs.isEmpty() ? List.of() : lines(pairs);
  }

  private Map<Grant, Placed> touching(ExtentUnits suspects)
      throws IOException, InterruptedException {
    Map<Grant, Placed> found = new HashMap<>();
    visit(
        placed -> {
          if (suspects.touches(placed.extent())) {
            found.put(Grant.of(placed), placed);
          }
        });
    return found;
  }

  private void visit(Consumer<Placed> visitor) throws IOException, InterruptedException {
    int any = ListExtents.ANY_DATANODE;
    ListExtents.Request request = new ListExtents.Request(any, 0, 0, 0);
    while (request.cursor() != -1) {
      ListExtents.Response page = cluster.ask(index, NameNodeOperations.LIST_EXTENTS, request);
      page.extents().forEach(visitor);
      request = new ListExtents.Request(any, page.next(), page.id(), page.extent());
    }
  }

  private static List<Pair> overlapping(List<Placed> extents) {
    extents.sort(
        Comparator.comparingInt((Placed each) -> each.extent().datanode())
            .thenComparingInt(each -> each.extent().region())
            .thenComparingLong(each -> each.extent().regionOffset()));
    List<Pair> pairs = new ArrayList<>();
    Placed furthest = null;
    for (Placed each : extents) {
      boolean together = furthest != null && inOneRegion(furthest.extent(), each.extent());
      if (together && end(furthest.extent()) > each.extent().regionOffset()) {
        pairs.add(new Pair(furthest, each));
      }
      if (!together || end(each.extent()) > end(furthest.extent())) {
        furthest = each;
      }
    }
    return pairs;
  }

  private static boolean inOneRegion(Extent a, Extent b) {
    return a.datanode() == b.datanode() && a.region() == b.region();
  }

  /** A unit has one owner, even if that has no byte in its second half. */
  private static long end(Extent extent) {
    long end = extent.regionOffset() + extent.length();
    return (end + Extent.MIN_LENGTH - 1) / Extent.MIN_LENGTH * Extent.MIN_LENGTH;
  }

  private List<String> lines(List<Pair> pairs) throws IOException, InterruptedException {
    Set<Long> nodes = new HashSet<>();
    pairs.forEach(
        pair -> {
          nodes.add(pair.first.id());
          nodes.add(pair.second.id());
        });
    Map<Long, String> names = names(nodes);
    return pairs.stream()
        .limit(MOST_LINES)
        .map(
            pair ->
                "%s and %s both have the space at %d of region %d of datanode %d"
                    .formatted(
                        name(pair.first.id(), names),
                        name(pair.second.id(), names),
                        pair.second.extent().regionOffset(),
                        pair.second.extent().region(),
                        pair.second.extent().datanode()))
        .toList();
  }

  private static String name(long id, Map<Long, String> names) {
    return names.containsKey(id) ? Printable.line(names.get(id)) : "node " + id;
  }

  private Map<Long, String> names(Set<Long> nodes) throws IOException, InterruptedException {
    Map<Long, String> names = new HashMap<>();
    Examine.Request request = new Examine.Request(0, 0, 0, true);
    while (request.cursor() != -1) {
      Examine.Response page = cluster.ask(index, NameNodeOperations.EXAMINE, request);
      page.findings().forEach(each -> names.put(each.id(), each.path().toString()));
      page.leases().forEach(each -> names.put(each.id(), each.path().toString()));
      names.keySet().retainAll(nodes);
      request = new Examine.Request(page.next(), page.id(), page.extent(), true);
    }
    return names;
  }
}
