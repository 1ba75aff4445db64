/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.ClusterKeys;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.ReportDatanodes.Datanode;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.Region;
import io.crail.tool.admin.AdminClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Looks for space that two namenodes give out: a region that both have, regions of a datanode that
 * are the same memory, and two datanodes at one address. A namenode looks at its own regions only.
 * Used by one thread.
 */
final class SpaceClaims {
  private record Claim(int namenode, Datanode datanode, Region region) {}

  private static final long PAUSE_MILLIS = 200;

  /** The longest wait for a namenode to hear of a restart. */
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final AdminClient cluster;
  private final Map<UUID, List<Claim>> regions = new HashMap<>();
  private final Map<String, Claim> addresses = new HashMap<>();
  private final Set<Integer> asked = new HashSet<>();
  private final List<String> conflicts = new ArrayList<>();
  private final List<String> addressConflicts = new ArrayList<>();

  SpaceClaims(AdminClient cluster) {
    this.cluster = cluster;
  }

  /** Asks a namenode for its datanodes and regions, and gives the datanodes. */
  List<Datanode> ask(int index) throws IOException, InterruptedException {
    List<Datanode> datanodes = cluster.datanodes(index);
    for (Datanode datanode : datanodes) {
      if (datanode.state() != DatanodeState.LOST) {
        ask(index, datanode);
      }
    }
    asked.add(index);
    return datanodes;
  }

  /**
   * What two of the namenodes claim that were asked, a line each. A datanode that is replaced just
   * now may be known to one namenode only. The next hears of it with a sign of life, so an address
   * is watched for as long as that may take.
   *
   * @param missing gets the namenodes that went down since they were asked
   */
  List<String> check(List<MissingNamenode> missing) throws IOException, InterruptedException {
    List<String> found = compare();
    long begun = System.nanoTime();
    long keepAlive = cluster.configuration().get(ClusterKeys.KEEP_ALIVE).toNanos();
    long longest = Math.min(2 * keepAlive, PATIENCE_NANOS);
    while (!found.isEmpty()) {
      SpaceClaims again = new SpaceClaims(cluster);
      for (MissingNamenode each :
          cluster.each(
              index -> {
                if (asked.contains(index)) {
                  again.ask(index);
                }
              })) {
        if (asked.remove(each.index())) {
          missing.add(each);
        }
      }
      found.retainAll(again.compare());
      if (Collections.disjoint(found, again.addressConflicts)
          || System.nanoTime() - begun > longest) {
        break;
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    }
    return found;
  }

  private List<String> compare() {
    regions.values().forEach(this::compare);
    List<String> all = new ArrayList<>(conflicts);
    all.addAll(addressConflicts);
    return all;
  }

  private void ask(int index, Datanode datanode) throws IOException, InterruptedException {
    if (datanode.state() != DatanodeState.OFFLINE) {
      Claim claim = new Claim(index, datanode, null);
      Claim other =
          addresses.putIfAbsent(datanode.tier() + " at " + DatanodeNames.address(datanode), claim);
      if (other != null && !uuid(other.datanode).equals(uuid(datanode))) {
        addressConflicts.add(
            String.format(
                Locale.ROOT,
                "datanode %s at %s is process %s for %s, and %s for %s",
                datanode.tier(),
                DatanodeNames.address(datanode),
                uuid(other.datanode),
                cluster.name(other.namenode),
                uuid(datanode),
                cluster.name(index)));
      }
    }
    List<Claim> claims = regions.computeIfAbsent(uuid(datanode), any -> new ArrayList<>());
    int first = 0;
    while (true) {
      DescribeDatanode.Response page;
      try {
        page =
            cluster.ask(
                index,
                NameNodeOperations.DESCRIBE_DATANODE,
                new DescribeDatanode.Request(datanode.id(), first));
      } catch (CrailException e) {
        if (e.code() == ErrorCode.UNKNOWN_DATANODE) {
          // Forgotten since it was listed, with its last file.
          return;
        }
        throw e;
      }
      page.regions().forEach(region -> claims.add(new Claim(index, datanode, region)));
      first += page.regions().size();
      if (page.regions().isEmpty() || first >= page.totalRegions()) {
        return;
      }
    }
  }

  /** Compares the regions of a datanode. */
  private void compare(List<Claim> claims) {
    claims.sort(Comparator.comparingInt(each -> each.region.index()));
    for (int i = 1; i < claims.size(); i++) {
      Claim a = claims.get(i - 1);
      Claim b = claims.get(i);
      if (a.region.index() == b.region.index()) {
        add(a, b, "both have region " + a.region.index());
      }
    }
    List<Claim> placed = new ArrayList<>(claims);
    placed.sort(
        Comparator.comparingLong((Claim each) -> each.region.key())
            .thenComparingLong(each -> each.region.address()));
    for (int i = 1; i < placed.size(); i++) {
      Claim a = placed.get(i - 1);
      Claim b = placed.get(i);
      if (a.region.overlaps(b.region) && a.region.index() != b.region.index()) {
        add(
            a,
            b,
            String.format(
                Locale.ROOT,
                "have the same memory, as region %d and %d",
                a.region.index(),
                b.region.index()));
      }
    }
  }

  private void add(Claim a, Claim b, String what) {
    conflicts.add(
        String.format(
            Locale.ROOT,
            "%s and %s %s of datanode %s at %s",
            cluster.name(a.namenode),
            cluster.name(b.namenode),
            what,
            a.datanode.tier(),
            DatanodeNames.address(a.datanode)));
  }

  private static UUID uuid(Datanode datanode) {
    return new UUID(datanode.uuidHigh(), datanode.uuidLow());
  }
}
