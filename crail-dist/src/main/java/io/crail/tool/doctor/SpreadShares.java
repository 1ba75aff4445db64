/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.ListShares.Share;
import io.crail.tool.admin.AdminClient;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Compares the spread directories of each namenode with the shares of them that the others have.
 * Used by one thread.
 */
final class SpreadShares {
  /** How often a difference must be found: a directory that comes or goes has some. */
  private static final int PROOFS = 3;

  /** Namenodes compare once a second. */
  private static final long PAUSE_MILLIS = 1500;

  private final AdminClient cluster;

  /** What each namenode has, by its index, then by the owner, then by id. */
  private final Map<Integer, Map<Integer, Map<Long, Share>>> answers = new TreeMap<>();

  SpreadShares(AdminClient cluster) {
    this.cluster = cluster;
  }

  /** Asks a namenode for its directories and shares. */
  void ask(int index) throws IOException, InterruptedException {
    Map<Integer, Map<Long, Share>> found = new TreeMap<>();
    long first = 0;
    while (first != -1) {
      ListShares.Response page =
          cluster.ask(index, NameNodeOperations.LIST_SHARES, new ListShares.Request(first));
      for (Share each : page.shares()) {
        found.computeIfAbsent(each.owner(), any -> new TreeMap<>()).put(each.id(), each);
      }
      boolean progresses = page.next() == -1 || Long.compareUnsigned(page.next(), first) > 0;
      first = progresses ? page.next() : -1;
    }
    answers.put(index, found);
  }

  /**
   * What is wrong at the namenodes that were asked, a line each.
   *
   * @param missing gets the namenodes that went down since they were asked
   */
  List<String> check(List<MissingNamenode> missing) throws IOException, InterruptedException {
    Map<Difference, String> found = compare();
    for (int i = 1; i < PROOFS && !found.isEmpty(); i++) {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      SpreadShares again = new SpreadShares(cluster);
      for (MissingNamenode each :
          cluster.each(
              index -> {
                if (answers.containsKey(index)) {
                  again.ask(index);
                }
              })) {
        if (answers.remove(each.index()) != null) {
          missing.add(each);
        }
      }
      found.keySet().retainAll(again.compare().keySet());
    }
    return List.copyOf(found.values());
  }

  /**
   * What is the same each time in which it is found. A directory that is changed meanwhile has
   * other versions.
   */
  private record Difference(int owner, int other, long id, long version, long versionOfShare) {}

  private Map<Difference, String> compare() {
    Map<Difference, String> wrong = new LinkedHashMap<>();
    for (int owner : answers.keySet()) {
      for (int other : answers.keySet()) {
        if (owner != other) {
          compare(
              owner,
              answers.get(owner).getOrDefault(owner, Map.of()),
              other,
              answers.get(other).getOrDefault(owner, Map.of()),
              wrong);
        }
      }
    }
    return wrong;
  }

  /** A directory that comes or goes has no path. */
  private static String pathOf(Share share) {
    return share.path().length() == 0
        ? "directory " + Long.toUnsignedString(share.id())
        : share.path().toString();
  }

  private void compare(
      int owner,
      Map<Long, Share> own,
      int other,
      Map<Long, Share> shares,
      Map<Difference, String> wrong) {
    own.forEach(
        (id, directory) -> {
          Share share = shares.get(id);
          long version = share == null ? 0 : share.version();
          Difference difference = new Difference(owner, other, id, directory.version(), version);
          String path = pathOf(directory) + " of " + cluster.name(owner);
          if (share == null) {
            wrong.put(difference, cluster.name(other) + " lacks its share of " + path);
          } else if (share.incarnation() != directory.incarnation()) {
            wrong.put(
                difference,
                cluster.name(other) + " has its share of " + path + " from an earlier start");
          } else if (share.version() != directory.version()) {
            wrong.put(
                difference,
                cluster.name(other) + " has its share of " + path + " in another state");
          }
        });
    shares.forEach(
        (id, share) -> {
          if (!own.containsKey(id)) {
            wrong.put(
                new Difference(owner, other, id, 0, share.version()),
                String.format(
                    Locale.ROOT,
                    "%s has a share of %s, which %s does not own",
                    cluster.name(other),
                    pathOf(share),
                    cluster.name(owner)));
          }
        });
  }
}
