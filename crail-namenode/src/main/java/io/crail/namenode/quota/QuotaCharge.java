/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.quota;

import io.crail.common.error.CrailException;
import io.crail.namenode.space.NodeSpace;
import io.crail.protocol.part.Extent;

/**
 * What a decision takes of a {@link Quota}, before it is applied: names, and space that a node
 * gets. Space that the change frees counts as free, so that what replaces something takes only what
 * it has more; what it has less is given back by who applies the change. A decision that is not
 * applied is undone. For one thread.
 */
public final class QuotaCharge {
  /** Takes whatever is asked for, where there is no quota. */
  public static final QuotaCharge NONE = new QuotaCharge(null, 0);

  private final Quota quota;
  private final long freed;
  private long bytes;
  private long names;
  private Quota.Refusal refusal;

  private QuotaCharge(Quota quota, long freed) {
    this.quota = quota;
    this.freed = freed;
  }

  /**
   * Begins without having taken anything.
   *
   * @param quota the account; null for none
   * @param freed the space that the change frees; null for none. It may not change meanwhile
   */
  public static QuotaCharge of(Quota quota, NodeSpace freed) {
    return quota == null ? NONE : new QuotaCharge(quota, Quota.bytesOf(freed));
  }

  /**
   * Takes a name.
   *
   * @param what the node, for the error
   */
  public void requireName(Object what) throws CrailException {
    if (quota == null) {
      return;
    }
    refusal = quota.take(0, 1);
    requireTaken(what);
    names++;
  }

  /**
   * Takes bytes.
   *
   * @param what the node, for the error
   */
  public void requireBytes(long more, Object what) throws CrailException {
    if (quota != null && !take(more)) {
      requireTaken(what);
    }
  }

  /** Throws the error for what was not taken last, if it was for the quota. */
  public void requireTaken(Object what) throws CrailException {
    if (refusal != null) {
      throw refusal.of(what);
    }
  }

  /**
   * Takes the bytes of an extent, as many as wanted or half as many, and so on.
   *
   * @param length a power of two, at least {@link Extent#MIN_LENGTH}
   * @return the length for which there was room; 0 for none
   */
  public int takeExtent(int length) {
    if (quota == null) {
      return length;
    }
    int taken = length;
    while (taken >= Extent.MIN_LENGTH && !take(taken)) {
      taken >>= 1;
    }
    return taken >= Extent.MIN_LENGTH ? taken : 0;
  }

  /** Gives bytes back that were not needed. */
  public void giveBack(long less) {
    if (quota != null && less > 0) {
      long before = charged(bytes);
      bytes -= less;
      quota.give(before - charged(bytes), 0);
    }
  }

  /** Gives everything back. */
  public void undo() {
    if (quota != null) {
      quota.give(charged(bytes), names);
      bytes = 0;
      names = 0;
    }
  }

  private boolean take(long more) {
    refusal = quota.take(charged(bytes + more) - charged(bytes), 0);
    if (refusal == null) {
      bytes += more;
    }
    return refusal == null;
  }

  private long charged(long all) {
    return Math.max(0, all - freed);
  }
}
