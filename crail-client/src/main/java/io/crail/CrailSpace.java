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
 * @param parts where the free bytes are: for each namenode that has answered, each class that one
 *     of them has, with 0 bytes if it has none of it
 */
public record CrailSpace(
    long capacityBytes,
    long freeBytes,
    long usedBytes,
    long waitingBytes,
    List<MissingNamenode> missing,
    List<FreePart> parts) {
  /**
   * Free bytes of a storage class at a namenode. All of a file is at one namenode.
   *
   * @param namenode index of the namenode
   * @param storageClass number of the class
   * @param bytes bytes that can be given to a node now
   */
  public record FreePart(int namenode, int storageClass, long bytes) {}

  /**
   * Copies the lists.
   *
   * @param capacityBytes bytes that the datanodes lend
   * @param freeBytes bytes that can be given to a node now
   * @param usedBytes bytes that belong to nodes
   * @param waitingBytes bytes that wait for the end of leases
   * @param missing namenodes that did not answer
   * @param parts where the free bytes are
   */
  public CrailSpace {
    missing = List.copyOf(missing);
    parts = List.copyOf(parts);
  }
}
