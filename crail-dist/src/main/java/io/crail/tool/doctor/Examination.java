/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.cluster.Usage;
import io.crail.tool.admin.AdminClient;
import io.crail.tool.report.ClusterQuery;
import java.io.IOException;

/**
 * Walks over all nodes of a namenode. On the way it compares the accounts of space with the extents
 * of the nodes, which needs a walk without changes. Stateless.
 */
final class Examination {
  /**
   * How often a difference must be found. A file that is made and deleted during a walk leaves the
   * accounts as they were, and the walk may have seen it.
   */
  private static final int PROOFS = 3;

  /**
   * The accounts of a namenode and the space of its extents.
   *
   * @param counted bytes that the namenode counts as used or lost
   * @param allocated bytes that its nodes have
   * @param compared whether the two can be compared
   */
  record Accounts(long counted, long allocated, boolean compared) {
    long difference() {
      return counted - allocated;
    }
  }

  /** Takes the pages. */
  interface Visitor {
    /** Takes one; fails when the namenode has sent nonsense. */
    void visit(Examine.Response page) throws CrailException, InterruptedException;
  }

  private Examination() {}

  /**
   * Gives all pages to a visitor, and compares the accounts. Where they differ the namenode is
   * asked again, for the accounts only.
   */
  static Accounts run(AdminClient cluster, int index, Visitor visitor)
      throws IOException, InterruptedException {
    Accounts first = compare(cluster, index, visitor);
    Accounts last = first;
    for (int i = 1; i < PROOFS && last.compared && last.difference() != 0; i++) {
      Accounts again = compare(cluster, index, page -> {});
      boolean agrees = again.difference() == 0 || again.difference() == first.difference();
      last = new Accounts(again.counted, again.allocated, again.compared && agrees);
    }
    return last;
  }

  private static Accounts compare(AdminClient cluster, int index, Visitor visitor)
      throws IOException, InterruptedException {
    Usage.Response before = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
    long[] allocated = new long[1];
    walk(
        cluster,
        index,
        false,
        page -> {
          allocated[0] += page.allocatedBytes();
          visitor.visit(page);
        });
    Usage.Response after = cluster.ask(index, NameNodeOperations.USAGE, new Usage.Request());
    long counted =
        after.classes().stream().mapToLong(each -> each.usedBytes() + each.lostBytes()).sum();
    // Other figures change with every request, and say nothing of space.
    boolean still = before.nodes() == after.nodes() && before.classes().equals(after.classes());
    return new Accounts(counted, allocated[0], still);
  }

  /**
   * Gives all pages to a visitor.
   *
   * @param all whether readable nodes are findings too
   */
  static void walk(AdminClient cluster, int index, boolean all, Visitor visitor)
      throws IOException, InterruptedException {
    Examine.Request request = new Examine.Request(0, 0, 0, all);
    while (request.cursor() != -1) {
      Examine.Response page = cluster.ask(index, NameNodeOperations.EXAMINE, request);
      visitor.visit(page);
      ClusterQuery.requireProgress(
          request.cursor(), request.id(), request.extent(), page.next(), page.id(), page.extent());
      request = new Examine.Request(page.next(), page.id(), page.extent(), all);
    }
  }
}
