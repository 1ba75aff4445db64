/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.rule;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.namenode.space.NodeSpace.SmallBytes;
import io.crail.protocol.codec.SmallValue;
import java.util.Arrays;

/**
 * The bytes of a node within a compound operation. As long as bytes are only added, those that are
 * there are not copied. For one thread, under the node's lock.
 */
final class KeptBytes {
  private static final byte[] NONE = {};

  private final int most;
  private CrailException obstacle;
  private SmallBytes present;
  private int unchanged;
  // Never changed, only replaced.
  private byte[] added = NONE;
  // Null as long as bytes were only added.
  private byte[] whole;
  private long elsewhere;
  private Link link = Link.NONE;
  private long linked;

  /** What a list does with staged bytes. */
  enum Link {
    /** Nothing. */
    NONE,
    /** They are all bytes of the node. */
    WHOLE,
    /** They are behind those of the node. */
    BEHIND
  }

  /**
   * Begins with the bytes of a node.
   *
   * @param present its bytes; null for none at the namenode
   * @param elsewhere bytes at datanodes
   * @param most how many the namenode keeps
   * @param obstacle why they cannot be changed, wherever they are; null if they can
   */
  KeptBytes(SmallBytes present, long elsewhere, int most, CrailException obstacle) {
    this.present = present;
    this.unchanged = present == null ? 0 : present.length();
    this.elsewhere = elsewhere;
    this.most = most;
    this.obstacle = obstacle;
  }

  /** The same, apart from what happens to one of them afterwards. */
  KeptBytes copy() {
    KeptBytes copy = new KeptBytes(present, elsewhere, most, obstacle);
    copy.unchanged = unchanged;
    copy.added = added;
    copy.whole = whole == null ? null : whole.clone();
    copy.link = link;
    copy.linked = linked;
    return copy;
  }

  long size() {
    return elsewhere > 0 ? elsewhere : whole != null ? whole.length : unchanged + added.length;
  }

  /** Forgets those of a node that is gone. */
  void clear() {
    obstacle = null;
    present = null;
    elsewhere = 0;
    unchanged = 0;
    added = NONE;
    whole = null;
    link = Link.NONE;
    linked = 0;
  }

  /** The bytes that are there of a range. */
  SmallValue read(long from, int length) throws CrailException {
    if (from < 0 || length < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("bytes " + from + ", " + length);
    }
    if (elsewhere > 0) {
      throw ErrorCode.NOT_KEPT.exception("they are at datanodes");
    }
    int count = (int) Math.max(0, Math.min(length, size() - from));
    if (count == 0) {
      return SmallValue.NONE;
    }
    int at = (int) from;
    if (whole != null) {
      return SmallValue.of(Arrays.copyOfRange(whole, at, at + count));
    }
    // Not all of them, so that what was added stays an addition.
    int old = Math.max(0, Math.min(count, unchanged - at));
    byte[] bytes = new byte[count];
    if (old > 0) {
      System.arraycopy(present.bytes(at, old), 0, bytes, 0, old);
    }
    if (old < count) {
      System.arraycopy(added, at + old - unchanged, bytes, old, count - old);
    }
    return SmallValue.of(bytes);
  }

  /**
   * Puts staged bytes in their place, or behind them.
   *
   * @param length how many
   */
  void link(long length, boolean isBehind) throws CrailException {
    requireNoObstacle();
    if (link != Link.NONE) {
      throw ErrorCode.INVALID_ARGUMENT.exception("linked already");
    }
    if (isBehind && elsewhere == 0 && size() > 0) {
      throw ErrorCode.NOT_KEPT.exception("there are bytes at the namenode, which come before them");
    }
    // An empty small value would have to go before.
    boolean isEmpty = present == null && whole == null;
    link = isBehind && (elsewhere > 0 || isEmpty) ? Link.BEHIND : Link.WHOLE;
    linked = length;
    elsewhere = isBehind ? Math.addExact(elsewhere, length) : length;
    present = null;
    unchanged = 0;
    added = NONE;
    whole = null;
  }

  /** What is done with staged bytes. */
  Link link() {
    return link;
  }

  /** How many staged bytes are linked. */
  long linked() {
    return linked;
  }

  /** Replaces all of them. */
  void replace(SmallValue data) throws CrailException {
    requireChange();
    if (data.length() > most) {
      throw ErrorCode.NOT_KEPT.exception("at most " + most + " bytes");
    }
    whole = data.bytes().clone();
  }

  void write(long at, SmallValue data) throws CrailException {
    if (at < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("position " + at);
    }
    requireChange();
    // Without a sum that may be too large.
    if (at > most - data.length()) {
      throw ErrorCode.NOT_KEPT.exception("at most " + most + " bytes");
    }
    if (data.length() == 0) {
      return;
    }
    long end = at + data.length();
    if (whole == null && at == size()) {
      added = joined(added, data.bytes());
      return;
    }
    if (end > whole().length) {
      whole = Arrays.copyOf(whole, (int) end);
    }
    System.arraycopy(data.bytes(), 0, whole, (int) at, data.length());
  }

  private static byte[] joined(byte[] first, byte[] second) {
    if (first.length == 0) {
      return second;
    }
    byte[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  void truncate(long size) throws CrailException {
    if (size < 0) {
      throw ErrorCode.INVALID_ARGUMENT.exception("size " + size);
    }
    requireChange();
    if (size > most) {
      throw ErrorCode.NOT_KEPT.exception("at most " + most + " bytes");
    }
    whole = Arrays.copyOf(whole(), (int) size);
  }

  private void requireNoObstacle() throws CrailException {
    if (obstacle != null) {
      throw obstacle;
    }
  }

  private void requireChange() throws CrailException {
    requireNoObstacle();
    if (elsewhere > 0) {
      throw ErrorCode.NOT_KEPT.exception("they are at datanodes");
    }
  }

  private byte[] whole() {
    if (whole == null) {
      byte[] all = Arrays.copyOf(unchanged == 0 ? NONE : present.bytes(), (int) size());
      System.arraycopy(added, 0, all, unchanged, added.length);
      whole = all;
    }
    return whole;
  }

  /** True when they are not what they were. */
  boolean haveChanged() {
    return whole != null || added.length > 0;
  }

  /** True when bytes were added to some that stay. */
  boolean areLonger() {
    return whole == null && added.length > 0 && unchanged > 0;
  }

  /** The bytes at the end that are new, when {@link #areLonger}. */
  byte[] added() {
    return added;
  }

  /** All of them. */
  byte[] all() {
    return whole();
  }
}
