/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.space;

import io.crail.protocol.part.Extent;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the bytes of one stream lie: the locations known so far, and the requests for more. Any
 * thread may look up a position; locations are added in the loop only.
 */
public abstract class Locator {
  /** Most locations kept. */
  static final int MAX_KNOWN = 4096;

  private static final LocatedExtent[] NONE = {};
  private volatile LocatedExtent[] known;

  Locator(List<Extent> first, long validUntilNanos) {
    this.known = first.isEmpty() ? NONE : located(first, validUntilNanos).toArray(NONE);
  }

  private static List<LocatedExtent> located(List<Extent> extents, long validUntilNanos) {
    List<LocatedExtent> located = new ArrayList<>(extents.size());
    for (Extent extent : extents) {
      located.add(new LocatedExtent(extent, validUntilNanos));
    }
    return located;
  }

  /** The location of a position, or null when it is not known or no longer good. */
  public final LocatedExtent find(long position, long nowNanos) {
    LocatedExtent[] all = known;
    int low = 0;
    int high = all.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      LocatedExtent located = all[middle];
      Extent extent = located.extent();
      if (position < extent.fileOffset()) {
        high = middle - 1;
      } else if (position >= extent.fileEnd()) {
        low = middle + 1;
      } else {
        return located.isValid(nowNanos) ? located : null;
      }
    }
    return null;
  }

  /**
   * Adds locations, which replace those that they overlap. In the loop.
   *
   * @param extents ascending, without overlaps among them
   */
  final void add(List<Extent> extents, long validUntilNanos) {
    add(located(extents, validUntilNanos));
  }

  /** As the other one. */
  final void add(List<LocatedExtent> more) {
    if (more.isEmpty()) {
      return;
    }
    LocatedExtent[] old = known;
    int oldCount = old.length;
    // When there are too many, the first half is dropped, since streams go forward. It is asked for
    // again when needed.
    int at = oldCount + more.size() <= MAX_KNOWN ? 0 : oldCount / 2;
    List<LocatedExtent> all = new ArrayList<>(oldCount - at + more.size());
    for (LocatedExtent located : more) {
      Extent extent = located.extent();
      while (at < oldCount && old[at].extent().fileEnd() <= extent.fileOffset()) {
        all.add(old[at++]);
      }
      while (at < oldCount && old[at].extent().fileOffset() < extent.fileEnd()) {
        at++;
      }
      all.add(located);
    }
    while (at < oldCount) {
      all.add(old[at++]);
    }
    known = all.toArray(NONE);
  }

  /** Forgets a location that turned out to be stale. In the loop. */
  public final void forget(Extent stale) {
    List<LocatedExtent> rest = new ArrayList<>();
    for (LocatedExtent located : known) {
      if (!located.extent().equals(stale)) {
        rest.add(located);
      }
    }
    known = rest.toArray(NONE);
  }

  /**
   * Asks for the location of a position that an operation needs. The operation continues or fails
   * with the answer. In the loop.
   */
  public abstract void locate(LocationWaiter operation, long position);

  /** True when other space can replace space that cannot be written to. */
  public boolean canReplace() {
    return false;
  }

  /**
   * Asks for other space in place of an extent that was given up. The operation continues or fails
   * with the answer. In the loop.
   */
  public void replace(LocatedExtent givenUp, LocationWaiter operation) {
    throw new AssertionError(this + " replaces nothing");
  }

  /**
   * Tells that all bytes up to {@code position} have been issued, so that the next location can be
   * asked for ahead. A failure of such a request is ignored.
   */
  public abstract void issuedUpTo(long position, long nowNanos);
}
