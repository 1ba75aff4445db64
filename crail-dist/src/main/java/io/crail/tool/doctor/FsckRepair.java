/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Printable;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.MissingNamenode;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Examine;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.node.Remove;
import io.crail.tool.admin.AdminClient;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Removes lost files, after a plan of that was made. Nothing else in a store can be repaired: a
 * datanode that is gone is forgotten with its last file. Used by one thread.
 */
final class FsckRepair {
  /** The most files of a plan, which is kept in memory. */
  private static final int MOST_FILES = 100_000;

  private record Lost(int namenode, long id, long size, Utf8 path) {}

  private final AdminClient cluster;
  private final PrintStream out;
  private final List<Lost> plan = new ArrayList<>();
  private final Map<Integer, String> down = new HashMap<>();
  private long omitted;
  private long left;

  FsckRepair(AdminClient cluster, PrintStream out) {
    this.cluster = cluster;
    this.out = out;
  }

  /** Adds a lost file of a namenode to the plan. */
  void add(Examine.Finding lost, int namenode) {
    if (plan.size() < MOST_FILES) {
      plan.add(new Lost(namenode, lost.id(), lost.size(), lost.path()));
    } else {
      omitted++;
    }
  }

  /** Whether there is anything to do. */
  boolean isNeeded() {
    return !plan.isEmpty();
  }

  /** Says what it would do. */
  void print() {
    out.printf(Locale.ROOT, "repair   would remove %s, named above as lost%n", files(plan.size()));
    if (omitted > 0) {
      out.printf(Locale.ROOT, "repair   %s would be left to another run%n", files(omitted));
    }
  }

  /**
   * Removes the files of the plan, and says so of each. Those that have changed since stay.
   *
   * @return whether nothing of the plan is left
   */
  boolean carryOut() throws IOException, InterruptedException {
    for (Lost file : plan) {
      String change = change(file);
      left += change.isEmpty() ? 0 : 1;
      out.println(
          (change.isEmpty() ? "removed  " : "left     ")
              + Printable.line(file.path.toString())
              + change);
    }
    out.printf(Locale.ROOT, "%s removed, %d left%n", files(plan.size() - left), left + omitted);
    return left + omitted == 0;
  }

  /** Removes a file; says what has changed when it may not. */
  private String change(Lost file) throws IOException, InterruptedException {
    if (down.containsKey(file.namenode)) {
      return down.get(file.namenode);
    }
    try {
      Lookup.Response found = cluster.ask(NameNodeOperations.LOOKUP, new Lookup.Request(file.path));
      if (found.node().size() != file.size) {
        return ": was written to since";
      }
      cluster.ask(NameNodeOperations.REMOVE, new Remove.Request(false, file.id, file.path));
      return "";
    } catch (CrailException e) {
      if (e.code() == ErrorCode.NODE_NOT_FOUND) {
        return ": is not there any more";
      }
      if (e.code() == ErrorCode.STALE_NODE) {
        return ": is another file since";
      }
      if (MissingNamenode.isDown(e.code())) {
        down.put(file.namenode, ": " + Printable.line(e.getMessage()));
        return down.get(file.namenode);
      }
      throw e;
    }
  }

  private static String files(long count) {
    return count + (count == 1 ? " file" : " files");
  }
}
