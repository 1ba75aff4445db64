/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.common.error.MissingNamenode;
import java.util.List;

/**
 * The space of a cluster, over all namenodes and storage classes; {@code free + used + waiting =
 * capacity}.
 *
 * @param capacityBytes bytes that the datanodes lend
 * @param freeBytes bytes that can be given to a node now
 * @param usedBytes bytes that belong to nodes
 * @param waitingBytes bytes that wait for the end of leases: freed bytes, and bytes that are
 *     reserved for copies of others
 * @param missing namenodes that did not answer; their space is not counted; empty for none
 */
public record CrailSpace(
    long capacityBytes,
    long freeBytes,
    long usedBytes,
    long waitingBytes,
    List<MissingNamenode> missing) {
  /**
   * Copies the list.
   *
   * @param capacityBytes bytes that the datanodes lend
   * @param freeBytes bytes that can be given to a node now
   * @param usedBytes bytes that belong to nodes
   * @param waitingBytes bytes that wait for the end of leases
   * @param missing namenodes that did not answer
   */
  public CrailSpace {
    missing = List.copyOf(missing);
  }
}
