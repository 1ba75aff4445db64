/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Printable;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.cluster.ListExtents.Placed;
import io.crail.protocol.part.Place;
import io.crail.tool.admin.AdminClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
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
  /** The most extents that are kept to be compared. */
  private static final int MOST_SUSPECTS = 100_000;

  /** The most lines. */
  private static final int MOST_LINES = 1_000;

  /** An extent may lie beyond no more than this, 2 PiB. */
  private static final long MAX_REGION_LENGTH = (long) Integer.MAX_VALUE << 20;

  /**
   * Space that two nodes have.
   *
   * @param lines a line for each two extents, as many as a report may have
   * @param omitted how many more there are
   * @param whole whether all extents were compared
   */
  record Found(List<String> lines, long omitted, boolean whole) {}

  /** What stays the same of an extent while it belongs to a node; bytes may be cut off. */
  private record Grant(long node, long fileOffset, Place place) {
    static Grant of(Placed placed) {
      return new Grant(placed.id(), placed.fileOffset(), placed.place());
    }
  }

  /** Two extents that have the same space. */
  record Pair(Placed first, Placed second) {}

  /**
   * What {@link #compare} finds.
   *
   * @param whole whether all extents were compared
   */
  record Overlaps(List<Pair> pairs, boolean whole) {}

  /** Lists all extents of a namenode, anew each time. */
  interface Listing {
    /** Gives each of them to a visitor. */
    void visit(Consumer<Placed> visitor) throws IOException, InterruptedException;
  }

  private final AdminClient cluster;
  private final DatanodeNames datanodes;
  private final int index;

  private ExtentOwners(AdminClient cluster, DatanodeNames datanodes, int index) {
    this.cluster = cluster;
    this.datanodes = datanodes;
    this.index = index;
  }

  /** Looks for space of a namenode that two nodes have. */
  static Found check(AdminClient cluster, DatanodeNames datanodes, int index)
      throws IOException, InterruptedException {
    ExtentOwners owners = new ExtentOwners(cluster, datanodes, index);
    Overlaps found = compare(owners::visit);
    List<String> lines = found.pairs.isEmpty() ? List.of() : owners.lines(found.pairs);
    return new Found(lines, found.pairs.size() - lines.size(), found.whole);
  }

  /** Looks for space that two nodes have. */
  static Overlaps compare(Listing listing) throws IOException, InterruptedException {
    ExtentUnits seen = new ExtentUnits();
    ExtentUnits suspects = new ExtentUnits();
    listing.visit(
        placed -> {
          if (seen.add(placed)) {
            suspects.add(placed);
          }
        });
    if (suspects.isEmpty()) {
      return new Overlaps(List.of(), true);
    }
    Map<Grant, Placed> first = new HashMap<>();
    Map<Grant, Placed> second = new HashMap<>();
    boolean whole = touching(suspects, listing, first) & touching(suspects, listing, second);
    first.keySet().retainAll(second.keySet());
    return new Overlaps(overlapping(new ArrayList<>(first.values())), whole);
  }

  /** Lists what touches suspects; false when there is too much of that. */
  private static boolean touching(ExtentUnits suspects, Listing listing, Map<Grant, Placed> found)
      throws IOException, InterruptedException {
    boolean[] whole = {true};
    listing.visit(
        placed -> {
          if (!suspects.touches(placed)) {
            return;
          }
          if (found.size() < MOST_SUSPECTS) {
            found.put(Grant.of(placed), placed);
          } else {
            whole[0] = false;
          }
        });
    return whole[0];
  }

  private void visit(Consumer<Placed> visitor) throws IOException, InterruptedException {
    cluster.extents(
        index,
        placed -> {
          visitor.accept(sound(placed));
          return true;
        });
  }

  private static Placed sound(Placed placed) throws CrailException {
    long offset = placed.place().offset();
    if (offset < 0
        || offset > MAX_REGION_LENGTH - placed.allocatedLength()
        || placed.length() <= 0
        || placed.length() > placed.allocatedLength()) {
      throw ErrorCode.PROTOCOL.exception(placed.toString());
    }
    return placed;
  }

  private static List<Pair> overlapping(List<Placed> extents) {
    extents.sort(
        Comparator.comparingInt((Placed each) -> each.place().datanode())
            .thenComparingInt(each -> each.place().region())
            .thenComparingLong(each -> each.place().offset()));
    List<Pair> pairs = new ArrayList<>();
    Placed furthest = null;
    for (Placed each : extents) {
      boolean together = furthest != null && inOneRegion(furthest.place(), each.place());
      if (together && end(furthest) > each.place().offset()) {
        pairs.add(new Pair(furthest, each));
      }
      if (!together || end(each) > end(furthest)) {
        furthest = each;
      }
    }
    return pairs;
  }

  private static boolean inOneRegion(Place a, Place b) {
    return a.datanode() == b.datanode() && a.region() == b.region();
  }

  private static long end(Placed placed) {
    return placed.place().offset() + placed.allocatedLength();
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
                String.format(
                    Locale.ROOT,
                    "%s and %s both have the space at %d of region %d of datanode %s",
                    name(pair.first.id(), names),
                    name(pair.second.id(), names),
                    pair.second.place().offset(),
                    pair.second.place().region(),
                    datanodes.of(pair.second.place().datanode())))
        .toList();
  }

  private static String name(long id, Map<Long, String> names) {
    return names.containsKey(id) ? Printable.line(names.get(id)) : "node " + id;
  }

  private Map<Long, String> names(Set<Long> nodes) throws IOException, InterruptedException {
    Map<Long, String> names = new HashMap<>();
    Examination.walk(
        cluster,
        index,
        true,
        page -> {
          page.findings().forEach(each -> names.put(each.id(), each.path().toString()));
          page.leases().forEach(each -> names.put(each.id(), each.path().toString()));
          names.keySet().retainAll(nodes);
        });
    return names;
  }
}
