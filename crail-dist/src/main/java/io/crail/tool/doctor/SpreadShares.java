/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.ListShares;
import io.crail.protocol.cluster.ListShares.Share;
import io.crail.tool.admin.AdminClient;
import java.io.IOException;
import java.util.ArrayList;
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
    List<String> found = compare();
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
      found.retainAll(again.compare());
    }
    return found;
  }

  private List<String> compare() {
    List<String> wrong = new ArrayList<>();
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

  private void compare(
      int owner, Map<Long, Share> own, int other, Map<Long, Share> shares, List<String> wrong) {
    own.forEach(
        (id, directory) -> {
          Share share = shares.get(id);
          String path = directory.path() + " of " + cluster.name(owner);
          if (share == null) {
            wrong.add(cluster.name(other) + " lacks its share of " + path);
          } else if (share.incarnation() != directory.incarnation()) {
            wrong.add(cluster.name(other) + " has its share of " + path + " from an earlier start");
          } else if (share.version() != directory.version()) {
            wrong.add(cluster.name(other) + " has its share of " + path + " in another state");
          }
        });
    shares.forEach(
        (id, share) -> {
          if (!own.containsKey(id)) {
            wrong.add(
                String.format(
                    Locale.ROOT,
                    "%s has a share of %s, which %s does not own",
                    cluster.name(other),
                    share.path(),
                    cluster.name(owner)));
          }
        });
  }
}
