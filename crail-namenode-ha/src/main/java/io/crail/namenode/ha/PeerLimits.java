/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode.ha;

import io.crail.namenode.log.ChangeLog;

/**
 * Sizes of what a peer keeps.
 *
 * @param segmentBytes bytes of a file of the copy
 * @param snapshotEntries after how many entries old ones may go
 * @param keptEntries how many entries stay all the same, for peers that are not far behind
 */
record PeerLimits(long segmentBytes, int snapshotEntries, int keptEntries) {
  /** The usual ones. */
  static final PeerLimits USUAL = new PeerLimits(ChangeLog.SEGMENT_BYTES, 20_000, 100_000);
}
