/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.nvmf;

import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The log of a discovery service while it is read. Its head, little-endian, and then the entries
 * from byte 1024 on:
 *
 * <pre>
 *   0 generation, 8 bytes   8 count of entries, 8 bytes   16 format, 2 bytes
 * </pre>
 */
public final class DiscoveryLog {
  /** A datanode lends far fewer; with more, something is wrong. */
  static final int MOST_ENTRIES = 1000;

  private final long generation;
  private final int count;
  private final List<DiscoveryEntry> subsystems = new ArrayList<>();
  private final List<String> others = new ArrayList<>();
  private int taken;

  private DiscoveryLog(long generation, int count) {
    this.generation = generation;
    this.count = count;
  }

  /**
   * Reads the head.
   *
   * @throws CrailException when the log cannot be read
   */
  public static DiscoveryLog of(ByteBuffer head) throws CrailException {
    int format = head.getShort(16) & 0xffff;
    if (format != 0) {
      throw ErrorCode.UNSUPPORTED.exception("its log has the unknown format " + format);
    }
    long count = head.getLong(8);
    if (count < 0 || count > MOST_ENTRIES) {
      throw ErrorCode.LIMIT_EXCEEDED.exception(
          "its log has " + Long.toUnsignedString(count) + " entries; the most are " + MOST_ENTRIES);
    }
    return new DiscoveryLog(head.getLong(0), (int) count);
  }

  /** How many entries there are. */
  public int count() {
    return count;
  }

  /** How many have been taken. */
  public int taken() {
    return taken;
  }

  /** Whether all entries have been taken. */
  public boolean isComplete() {
    return taken == count;
  }

  /** Whether another head belongs to the same log. */
  public boolean isLike(DiscoveryLog other) {
    return generation == other.generation && count == other.count;
  }

  /** Takes the next entries. */
  public void take(ByteBuffer entries, int number) {
    for (int i = 0; i < number; i++) {
      try {
        subsystems.add(DiscoveryEntry.of(entries, i * DiscoveryEntry.LENGTH));
      } catch (DiscoveryEntry.Unusable e) {
        others.add(e.getMessage());
      }
      taken++;
    }
  }

  /** The entries that name subsystems with namespaces. */
  public List<DiscoveryEntry> subsystems() {
    return List.copyOf(subsystems);
  }

  /** Why the others are of no use. */
  public List<String> others() {
    return List.copyOf(others);
  }
}
