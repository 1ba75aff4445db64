/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.region;

/**
 * A slot of a {@link HazardTable}, for one write at a time. Thread-safe: the thread whose {@link
 * #announce} succeeds has it until its {@link #retract}.
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
   * Tells that bytes are about to be written. The caller looks at their generation from now on, and
   * not at what it has seen before.
   *
   * @param length bytes, at least 1
   * @return false while another thread has this slot
   */
  public boolean announce(int region, int offset, int length, long generation) {
    return table.announce(at, idle, region, offset, length, generation);
  }

  /** Tells that nothing is written any more. */
  public void retract() {
    table.retract(at, idle);
  }

  /** True once the owner of this slot must not write any more, whatever the generations say. */
  boolean isRevoked() {
    return table.isRevoked(at);
  }

  /** Lets nothing be announced any more; false while something is. */
  boolean retire() {
    return table.retire(at, idle);
  }

  /** Gives the slot back, which announces nothing. */
  void release() {
    table.release(at);
  }
}
