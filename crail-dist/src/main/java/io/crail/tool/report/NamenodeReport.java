/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.report;

import io.crail.common.error.MissingNamenode;
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
    int onlineDatanodes) {
  /** Names it for people. */
  public String name() {
    return MissingNamenode.name(index, address);
  }
}
