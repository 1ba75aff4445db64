/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.doctor;

import io.crail.common.Printable;
import io.crail.protocol.cluster.Examine;
import io.crail.tool.report.ReportText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The write leases of files that exist.
 *
 * @param held how many a writer has
 * @param holders how many writers that are
 * @param oldest the one that was granted first of those
 * @param ended how many a writer has left or lost, so that no one may write until their end
 * @param overdue how many should have ended long ago, for which their namenode has not seen
 * @param waiting the ended and the overdue ones, as many as a report may have
 */
public record FsckLeases(
    long held, int holders, Optional<Lease> oldest, long ended, long overdue, List<Lease> waiting) {
  /** The most leases in a report. */
  private static final int MOST = 1_000;

  /** A namenode looks at its leases twenty times a second. */
  private static final long OVERDUE_MILLIS = 10_000;

  /**
   * A write lease.
   *
   * @param path the file
   * @param client its holder
   * @param ageMillis the time since it was granted
   * @param leftMillis the time to its end, if it is not renewed; negative after that
   */
  public record Lease(String path, String client, long ageMillis, long leftMillis) {
    boolean isOverdue() {
      return leftMillis < -OVERDUE_MILLIS;
    }

    void print(ReportText text) {
      text.line(
          isOverdue()
              ? "%s  %s: the write lease of client %s was over %d s ago, and has not ended"
              : "%s    %s: the write lease of client %s ends in %d s, and no one may write until"
                  + " then",
          text.colours().state(isOverdue() ? "overdue" : "waits"),
          Printable.line(path),
          client,
          Math.abs(leftMillis) / 1000);
    }
  }

  /** Adds leases up. Used by one thread. */
  static final class Tally {
    private final Set<Long> clients = new HashSet<>();
    private final List<Lease> waiting = new ArrayList<>();
    private Lease oldest;
    private long held;
    private long ended;
    private long overdue;

    void add(Examine.Lease found) {
      Lease lease =
          new Lease(
              found.path().toString(),
              Long.toHexString(found.client()),
              found.ageMillis(),
              found.leftMillis());
      if (found.held() && !lease.isOverdue()) {
        held++;
        clients.add(found.client());
        oldest = oldest == null || lease.ageMillis() > oldest.ageMillis() ? lease : oldest;
        return;
      }
      ended += lease.isOverdue() ? 0 : 1;
      overdue += lease.isOverdue() ? 1 : 0;
      if (waiting.size() < MOST) {
        waiting.add(lease);
      }
    }

    FsckLeases report() {
      return new FsckLeases(
          held, clients.size(), Optional.ofNullable(oldest), ended, overdue, List.copyOf(waiting));
    }
  }

  void print(ReportText text) {
    waiting.forEach(each -> each.print(text));
    StringBuilder line = new StringBuilder("write leases: ").append(held);
    if (oldest.isPresent()) {
      line.append(" of ").append(ReportText.count(holders, "client"));
      line.append(", the oldest for ").append(oldest.get().ageMillis() / 1000).append(" s on ");
      line.append(Printable.line(oldest.get().path()));
    }
    line.append("; ended but not yet released: ").append(ended);
    text.line("%s; overdue: %d", line, overdue);
  }
}
