/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.quota;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.memory.Footprint;
import io.crail.namenode.space.NodeSpace;
import io.crail.protocol.part.Extent;

/**
 * The account of a directory with limits: what all nodes below it use. It is beside the one of the
 * nearest directory above that has limits too; what is taken of an account is taken of all those
 * above as well, or of none. So a charge costs as much as accounts are nested, whatever the depth
 * of a path.
 *
 * <p>A node belongs to the account of its container, and takes a name there and all of its space.
 * It keeps that account when it is removed, and gives back what it has when it is taken apart. So
 * what is freed never goes to a directory that has got the name meanwhile. Thread-safe: there is
 * one lock for all accounts below the outermost one, which is held for a few additions.
 */
public final class Quota {
  /** The limit of who has none. */
  public static final long UNLIMITED = -1;

  /** Bytes of heap. */
  public static final long FOOTPRINT =
      Footprint.object(7, 2 * Long.BYTES + 2) + 2 * Footprint.object(0, 2 * Long.BYTES);

  /**
   * The most that nodes may use.
   *
   * @param bytes bytes of their space; {@link #UNLIMITED} for any number
   * @param names their number; {@link #UNLIMITED} for any
   */
  public record Limits(long bytes, long names) {
    /** No limits. */
    public static final Limits NONE = new Limits(UNLIMITED, UNLIMITED);
  }

  private final Object directory;
  private final Quota above;
  private final Object lock;

  // Under the lock.
  private long bytes;
  private long names;
  private Limits limits = Limits.NONE;

  /** What may be taken at this namenode. */
  private Limits here = Limits.NONE;

  private boolean hasRefused;

  /** Whether it is for a part of what is below the directory: the rest is at other namenodes. */
  private boolean isPart;

  /** How the limits are divided, at the owner of a spread directory; null elsewhere. */
  private Slices byteSlices;

  private Slices nameSlices;

  /**
   * Begins an account without limits.
   *
   * @param directory whose account it is; its text is for messages
   * @param above the account that the directory itself belongs to; null for none
   */
  public Quota(Object directory, Quota above) {
    this.directory = directory;
    this.above = above;
    this.lock = above == null ? new Object() : above.lock;
  }

  /** The bytes that a space counts for: its extents as allocated, and a small value. */
  public static long bytesOf(NodeSpace space) {
    if (space == null) {
      return 0;
    }
    long sum = space.small() == null ? 0 : space.small().length();
    for (int i = space.count() - 1; i >= 0; i--) {
      sum += space.at(i).allocatedLength();
    }
    return sum;
  }

  /** True for the directory whose account this is. */
  public boolean isOf(Object candidate) {
    return directory == candidate;
  }

  /** The directory whose account this is. */
  public Object directory() {
    return directory;
  }

  /** The account that the directory itself belongs to; null for none. */
  public Quota above() {
    return above;
  }

  /**
   * Limits and use at one moment.
   *
   * @param bytes bytes that nodes have
   * @param names nodes below the directory
   */
  public record Usage(long bytes, long names, Limits limits) {}

  /** Limits and use, at this namenode. */
  public Usage usage() {
    synchronized (lock) {
      return new Usage(bytes, names, limits);
    }
  }

  /** Limits, and use at all namenodes, as far as is known. */
  public Usage wholeUsage() {
    synchronized (lock) {
      return byteSlices == null
          ? usage()
          : new Usage(bytes + byteSlices.elsewhere(), names + nameSlices.elsewhere(), limits);
    }
  }

  /** Sets the limits, which may be below the use: then nothing is taken until there is less. */
  public void limit(Limits next) {
    synchronized (lock) {
      limits = next;
      divided();
    }
  }

  /**
   * What it has to say to the owner of a spread directory.
   *
   * @param hasRefused whether it has refused something since the last report
   */
  public record Report(Usage usage, boolean hasRefused) {}

  /**
   * Sets the part of the limits that this namenode may use, or as much as is used if that is more.
   *
   * @return use and limits then
   */
  public Report slice(Limits slice) {
    synchronized (lock) {
      isPart = true;
      limits = new Limits(atLeast(slice.bytes, bytes), atLeast(slice.names, names));
      divided();
      return report();
    }
  }

  /** Limits and use, and whether something was refused. */
  public Report report() {
    synchronized (lock) {
      Report report = new Report(usage(), hasRefused);
      hasRefused = false;
      return report;
    }
  }

  private static long atLeast(long limit, long used) {
    return limit < 0 ? limit : Math.max(limit, used);
  }

  /**
   * Divides the limits over all namenodes. From now on this one takes only what is not lent to the
   * others: nothing, until each of them has said what it uses.
   *
   * @param count number of namenodes
   * @param index this one, which owns the directory
   */
  public void divide(int count, int index) {
    synchronized (lock) {
      isPart = true;
      byteSlices = new Slices(count, index, Extent.MIN_LENGTH);
      nameSlices = new Slices(count, index, 1);
      divided();
    }
  }

  /** The slice that another namenode is offered. What is added to it is no longer used here. */
  public Limits offer(int namenode) {
    synchronized (lock) {
      if (hasRefused) {
        byteSlices.refused();
        nameSlices.refused();
        hasRefused = false;
      }
      Limits slice =
          new Limits(
              byteSlices.offer(namenode, limits.bytes, bytes),
              nameSlices.offer(namenode, limits.names, names));
      divided();
      return slice;
    }
  }

  /**
   * What another namenode has answered to the last offer.
   *
   * @param counts whether its share counts
   */
  public void answered(int namenode, Report report, boolean counts) {
    synchronized (lock) {
      Usage usage = report.usage;
      byteSlices.answered(namenode, usage.bytes, usage.limits.bytes, report.hasRefused, counts);
      nameSlices.answered(namenode, usage.names, usage.limits.names, report.hasRefused, counts);
      divided();
    }
  }

  /** Another namenode has answered that it has no share of the directory, and so nothing below. */
  public void missing(int namenode) {
    synchronized (lock) {
      byteSlices.missing(namenode);
      nameSlices.missing(namenode);
      divided();
    }
  }

  private void divided() {
    here =
        byteSlices == null
            ? limits
            : new Limits(byteSlices.rest(limits.bytes), nameSlices.rest(limits.names));
  }

  /** True when all that is below the directory is counted, at each namenode that has a share. */
  public boolean isCounted() {
    synchronized (lock) {
      return byteSlices == null || byteSlices.areCounted();
    }
  }

  /** True when a namenode has no share of the directory, as far as is known. */
  public boolean lacksShare() {
    synchronized (lock) {
      return byteSlices != null && byteSlices.lackShare();
    }
  }

  /** True when the limits are divided. */
  public boolean isDivided() {
    synchronized (lock) {
      return byteSlices != null;
    }
  }

  /**
   * Why something was not taken.
   *
   * @param quota the account whose limit it is
   * @param unit what is limited
   * @param used how many there were
   * @param limit the most
   */
  public record Refusal(Quota quota, String unit, long used, long limit) {
    /**
     * The error for it.
     *
     * @param what what was to be taken for
     */
    public CrailException of(Object what) {
      return ErrorCode.QUOTA_EXCEEDED.exception(
          what
              + (quota.isPart ? ": this namenode's part of the quota of " : ": the quota of ")
              + quota.directory
              + " is "
              + limit
              + " "
              + unit
              + ", and "
              + used
              + " are used");
    }
  }

  /**
   * Takes bytes and names of this account and of all above it, or nothing. What is below 0 is given
   * back.
   *
   * @return null when they were taken, otherwise why not
   */
  public Refusal take(long moreBytes, long moreNames) {
    return take(moreBytes, moreNames, null, 0);
  }

  /**
   * Gives bytes and names back that were taken. What is below 0 is taken whatever the limits are: a
   * move that is undone cannot be refused.
   */
  public void give(long lessBytes, long lessNames) {
    give(lessBytes, lessNames, null);
  }

  /**
   * Moves a node from one account to another, and its name with it. Accounts above both keep its
   * bytes. Nothing is changed if there is no room.
   *
   * @param from the account of its container; null for none
   * @param to the account of the container to come; null for none
   * @param bytes bytes that it has
   * @param added names that the other container gets more
   * @param removed names that its own container loses
   * @return null when it was moved, otherwise why not
   */
  public static Refusal move(Quota from, Quota to, long bytes, long added, long removed) {
    Quota common = to;
    while (common != null && !common.isAboveOrAt(from)) {
      common = common.above;
    }
    Refusal refusal = to == null ? null : to.take(bytes, added, common, added - removed);
    if (refusal == null && from != null) {
      from.give(bytes, removed, common);
    }
    return refusal;
  }

  private boolean isAboveOrAt(Quota other) {
    Quota at = other;
    while (at != null && at != this) {
      at = at.above;
    }
    return at == this;
  }

  /** Takes names alone from {@code until} on, and bytes and names of the accounts below it. */
  private Refusal take(long moreBytes, long moreNames, Quota until, long namesFromThere) {
    synchronized (lock) {
      boolean isBelow = true;
      for (Quota at = this; at != null; at = at.above) {
        isBelow &= at != until;
        Refusal refusal = at.refusal(isBelow ? moreBytes : 0, isBelow ? moreNames : namesFromThere);
        if (refusal != null) {
          at.hasRefused = true;
          return refusal;
        }
      }
      isBelow = true;
      for (Quota at = this; at != null; at = at.above) {
        isBelow &= at != until;
        at.add(isBelow ? moreBytes : 0, isBelow ? moreNames : namesFromThere);
      }
      return null;
    }
  }

  private void give(long lessBytes, long lessNames, Quota until) {
    synchronized (lock) {
      for (Quota at = this; at != until; at = at.above) {
        at.add(-lessBytes, -lessNames);
      }
    }
  }

  private Refusal refusal(long moreBytes, long moreNames) {
    if (!fits(moreBytes, bytes, here.bytes)) {
      return new Refusal(this, "bytes", bytes, here.bytes);
    }
    return fits(moreNames, names, here.names)
        ? null
        : new Refusal(this, "names", names, here.names);
  }

  private static boolean fits(long more, long used, long limit) {
    return more <= 0 || limit < 0 || more <= limit - used;
  }

  private void add(long moreBytes, long moreNames) {
    bytes += moreBytes;
    names += moreNames;
  }
}
