/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.error.MissingNamenode;
import io.crail.protocol.part.LogUsage;
import java.time.Instant;
import java.util.Optional;

/**
 * A namenode. If it does not answer, everything after the problem is 0 or empty.
 *
 * @param index its place in {@code crail.namenode.address}, from 0
 * @param address where it is
 * @param answers whether it does
 * @param micros how long it takes to answer
 * @param problem why it does not answer; empty if it does
 * @param started when it was started, by its clock
 * @param successor whether the nodes of an earlier start of it are gone
 * @param requests requests that it has answered since then
 * @param requestNanos how long it has worked on all of them together
 * @param waitedNanos how long connections have waited for their turn since then, all together
 * @param locatedBytes bytes whose places it has given clients since then
 * @param committedBytes bytes that clients have made visible since then
 * @param objects its files, directories, tables and so on, without the root
 * @param leases its write leases
 * @param smallValueBytes memory outside the heap that its small values take
 * @param smallValueLimitBytes memory above which it keeps no more of them
 * @param memoryBytes heap taken by all that it keeps
 * @param memoryLimitBytes heap above which it refuses to keep more
 * @param datanodes the datanodes that are registered with it
 * @param onlineDatanodes those that it has heard of lately
 * @param log its log; empty if its metadata end with it
 */
public record NamenodeReport(
    int index,
    String address,
    boolean answers,
    long micros,
    String problem,
    Optional<Instant> started,
    boolean successor,
    long requests,
    long requestNanos,
    long waitedNanos,
    long locatedBytes,
    long committedBytes,
    long objects,
    int leases,
    long smallValueBytes,
    long smallValueLimitBytes,
    long memoryBytes,
    long memoryLimitBytes,
    int datanodes,
    int onlineDatanodes,
    Optional<Log> log) {
  /**
   * Its log.
   *
   * @param records how many of it a start reads besides the snapshot
   * @param bytes how long these are in the log
   * @param snapshot when the snapshot was made, by the clock of the namenode; empty if there is
   *     none
   * @param refusal why no changes may be made now; empty if they may
   */
  public record Log(long records, long bytes, Optional<Instant> snapshot, String refusal) {
    /** What a namenode says. */
    static Log of(LogUsage log) {
      return new Log(
          log.records(),
          log.bytes(),
          log.snapshotMillis() == 0
              ? Optional.empty()
              : Optional.of(Instant.ofEpochMilli(log.snapshotMillis())),
          log.refusal().toString());
    }
  }

  /** Names it for people. */
  public String name() {
    return MissingNamenode.name(index, address);
  }
}
