/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import io.crail.protocol.part.LogUsage;

/**
 * How the log of a namenode stands.
 *
 * @param records all that were ever written, since the log was begun
 * @param finalRecords those of them that are on the disk, or on which peers have agreed
 * @param recordsBehind those of them that a start reads besides the snapshot
 * @param bytesBehind bytes of the frames in which these are
 * @param snapshotMillis when the snapshot was made, in milliseconds since 1970; 0 if there is none
 * @param snapshotNanos how long that took; 0 if this start has made none
 * @param snapshots how many this start has made
 * @param failedSnapshots how many it could not make
 * @param waitingBytes bytes of records that are not on their way to the disk, or to peers, yet
 * @param forces how often this start has waited for the disk
 * @param forceNanos how long, all together
 * @param refusal why no changes may be made now; empty if they may
 */
public record LogStanding(
    long records,
    long finalRecords,
    long recordsBehind,
    long bytesBehind,
    long snapshotMillis,
    long snapshotNanos,
    long snapshots,
    long failedSnapshots,
    long waitingBytes,
    long forces,
    long forceNanos,
    String refusal) {
  /** What all clients may know. */
  LogUsage usage() {
    return LogUsage.of(recordsBehind, bytesBehind, snapshotMillis, refusal);
  }
}
