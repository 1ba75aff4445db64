/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.dist.doctor;

import io.crail.common.Addresses;
import io.crail.dist.admin.AdminClient;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.DescribeDatanode;
import io.crail.protocol.cluster.ReportDatanodes.Datanode;
import io.crail.protocol.part.DatanodeState;
import io.crail.protocol.part.Region;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Looks for space that two namenodes give out: a region that both have, regions of a datanode that
 * are the same memory, and two datanodes at one address. A namenode looks at its own regions only.
 * Used by one thread.
 */
final class SpaceClaims {
  private record Claim(int namenode, Datanode datanode, Region region) {}

  private final AdminClient cluster;
  private final Map<UUID, List<Claim>> regions = new HashMap<>();
  private final Map<String, Claim> addresses = new HashMap<>();
  private final List<Integer> asked = new ArrayList<>();
  private final List<String> conflicts = new ArrayList<>();

  SpaceClaims(AdminClient cluster) {
    this.cluster = cluster;
  }

  /** Asks a namenode for its datanodes and regions. */
  void ask(int index) throws IOException, InterruptedException {
    for (Datanode datanode : cluster.datanodes(index)) {
      if (datanode.state() != DatanodeState.LOST) {
        ask(index, datanode);
      }
    }
    asked.add(index);
  }

  /** What two of the namenodes claim that were asked, a line each. */
  List<String> check() throws IOException, InterruptedException {
    List<String> found = compare();
    if (!found.isEmpty()) {
      // A datanode that is replaced just now may be known to one namenode only.
      SpaceClaims again = new SpaceClaims(cluster);
      for (int index : asked) {
        again.ask(index);
      }
      found.retainAll(again.compare());
    }
    return found;
  }

  private List<String> compare() {
    regions.values().forEach(this::compare);
    return conflicts;
  }

  private void ask(int index, Datanode datanode) throws IOException, InterruptedException {
    if (datanode.state() != DatanodeState.OFFLINE) {
      Claim claim = new Claim(index, datanode, null);
      Claim other = addresses.putIfAbsent(datanode.tier() + " at " + address(datanode), claim);
      if (other != null && !uuid(other.datanode).equals(uuid(datanode))) {
        conflicts.add(
            "datanode %s at %s is process %s for %s, and %s for %s"
                .formatted(
                    datanode.tier(),
                    address(datanode),
                    uuid(other.datanode),
                    cluster.name(other.namenode),
                    uuid(datanode),
                    cluster.name(index)));
      }
    }
    List<Claim> claims = regions.computeIfAbsent(uuid(datanode), any -> new ArrayList<>());
    int first = 0;
    while (true) {
      DescribeDatanode.Response page =
          cluster.ask(
              index,
              NameNodeOperations.DESCRIBE_DATANODE,
              new DescribeDatanode.Request(datanode.id(), first));
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
    // Address 0 means that the tier has no addresses.
    List<Claim> placed = new ArrayList<>(claims);
    placed.removeIf(each -> each.region.address() == 0);
    placed.sort(
        Comparator.comparingLong((Claim each) -> each.region.key())
            .thenComparingLong(each -> each.region.address()));
    for (int i = 1; i < placed.size(); i++) {
      Claim a = placed.get(i - 1);
      Claim b = placed.get(i);
      if (a.region.key() == b.region.key()
          && a.region.address() + a.region.length() > b.region.address()
          && a.region.index() != b.region.index()) {
        add(
            a,
            b,
            "have the same memory, as region %d and %d"
                .formatted(a.region.index(), b.region.index()));
      }
    }
  }

  private void add(Claim a, Claim b, String what) {
    conflicts.add(
        "%s and %s %s of datanode %s at %s"
            .formatted(
                cluster.name(a.namenode),
                cluster.name(b.namenode),
                what,
                a.datanode.tier(),
                address(a.datanode)));
  }

  private static UUID uuid(Datanode datanode) {
    return new UUID(datanode.uuidHigh(), datanode.uuidLow());
  }

  private static String address(Datanode datanode) {
    return Addresses.text(datanode.host().toString(), datanode.port());
  }
}
