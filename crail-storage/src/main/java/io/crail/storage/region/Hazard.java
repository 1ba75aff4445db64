/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

/**
 * A slot of a {@link HazardTable}, for one write at a time. Thread-safe: the thread whose {@link
 * #announce} succeeds has the slot until its {@link #retract}.
 */
public final class Hazard {
  private final HazardTable table;
  private final int at;
  private final long idle;

  Hazard(HazardTable table, int at, long idle) {
    this.table = table;
    this.at = at;
    this.idle = idle;
  }

  /**
   * Announces that bytes are about to be written. The caller checks their generation after this
   * call; an earlier check does not count.
   *
   * @param length bytes, at least 1
   * @return false while another thread has this slot
   */
  public boolean announce(int region, int offset, int length, long generation) {
    return table.announce(at, idle, region, offset, length, generation);
  }

  /** Announces that the write has ended. */
  public void retract() {
    table.retract(at, idle);
  }

  /** True once the owner of this slot must not write any more, whatever the generations say. */
  boolean isRevoked() {
    return table.isRevoked(at);
  }

  /** Ends all announcements by this slot; false while a write is announced. */
  boolean retire() {
    return table.retire(at, idle);
  }

  /** Gives back the slot, which announces nothing. */
  void release() {
    table.release(at);
  }
}
