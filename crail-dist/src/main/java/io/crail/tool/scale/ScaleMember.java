/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.scale;

import java.util.List;
import java.util.UUID;

/**
 * A datanode as the controller sees it. Immutable.
 *
 * @param uuid the identity of its process
 * @param address where it serves, host and port
 * @param standing how it stands
 * @param parts what it lends to each namenode that answers, in their order
 * @param rate bytes that clients read and write there in a second; 0 if it does not see them
 */
record ScaleMember(UUID uuid, String address, Standing standing, List<Part> parts, long rate) {
  /** How a datanode stands. */
  enum Standing {
    /** It gets new data. */
    SERVES,
    /** It is being emptied, by whomever. */
    DRAINS,
    /** It is alive, and gets new data only in need. */
    IMPAIRED,
    /** It has sent no sign of life lately. */
    SILENT
  }

  /**
   * What it lends to one namenode.
   *
   * @param drains whether it gets no new data there
   * @param isSilent whether the namenode has not heard of it lately
   */
  record Part(long lentBytes, long usedBytes, boolean drains, boolean isSilent) {
    /** That of a namenode that does not know it. */
    static final Part NONE = new Part(0, 0, true, true);

    /** A part that gets new data. */
    Part(long lentBytes, long usedBytes) {
      this(lentBytes, usedBytes, false, false);
    }
  }

  ScaleMember {
    parts = List.copyOf(parts);
  }

  long lentBytes() {
    return parts.stream().mapToLong(Part::lentBytes).sum();
  }

  /** Whether no namenode has data there, or gives it some. */
  boolean isEmptied() {
    return parts.stream().allMatch(each -> each.drains() && each.usedBytes() == 0);
  }

  long usedBytes() {
    return parts.stream().mapToLong(Part::usedBytes).sum();
  }
}
